package import RecordServer
package import RecordStore

/// A service of a container, by the name that the operator gave.
package struct ServiceAccount: Sendable {
    package let name: String
    package let container: String
    private let store: Store

    package init(_ name: String, of container: String, in store: Store) {
        self.name = name
        self.container = container
        self.store = store
    }

    /// Registers a key.
    ///
    /// The first one adds the service.
    package func register(
        _ pair: ServiceKeyPair,
        onBehalfOf users: [String],
        isReadOnly: Bool
    ) throws(AdministrationError) {
        let key = NewServiceKey(
            serviceName: self.name,
            userRecordName: RandomNames.userRecordName(),
            keyID: pair.keyID,
            publicKey: pair.publicKey,
            onBehalfOf: users,
            isReadOnly: isReadOnly
        )
        do throws(DirectoryError) {
            try self.store.directory.addServiceKey(key, toContainer: self.container)
        } catch .userMissing {
            throw .usersMissing(users, container: self.container)
        } catch {
            throw .service(error, name: self.name, container: self.container)
        }
    }

    /// Revokes one key, or all, and returns how many.
    package func revoke(keyID: String?) throws(AdministrationError) -> Int {
        do throws(DirectoryError) {
            return try self.store.directory.revokeServiceKeys(
                ofService: self.name,
                keyID: keyID,
                inContainer: self.container
            )
        } catch {
            throw .service(error, name: self.name, container: self.container)
        }
    }
}
