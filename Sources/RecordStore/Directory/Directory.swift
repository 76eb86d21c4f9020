package import RecordModel
package import StorageContract

/// Containers, users, and what they sign in with: rules over the rows of an engine.
///
/// Nothing is kept in memory, as the command line changes the same rows from another process. Calls
/// block, so they belong on threads of their own and never on an event loop. A connection needs a
/// few of them in its life, and a sign-in is one short read.
///
/// Every call throws `unavailable` if the engine can't read or write now, and `containerMissing` if
/// it names a container that is not there.
package struct Directory: Sendable {
    let engine: any StorageEngine
    /// Milliseconds since 1970.
    let clock: @Sendable () -> Int64

    package init(engine: any StorageEngine, clock: @escaping @Sendable () -> Int64) {
        self.engine = engine
        self.clock = clock
    }

    // MARK: Containers

    /// Creates a container with both environments and their public databases.
    ///
    /// - Throws: `containerNameInvalid`, `containerExists`.
    package func createContainer(_ identifier: String) throws(DirectoryError) {
        try self.change { try $0.createContainer(identifier) }
    }

    /// All containers, by identifier.
    package func containers() throws(DirectoryError) -> [String] {
        try self.read { try $0.containers() }
    }

    /// Random bytes that only servers of this store know, the same for as long as it lives.
    ///
    /// `name` says what they are for. If there are none yet they are `candidate` from now on, 32
    /// bytes made at random.
    package func secret(
        named name: String,
        orStoring candidate: [UInt8]
    ) throws(DirectoryError) -> [UInt8] {
        if let secret = try self.read({ try $0.secret(named: name) }) { return secret }
        try self.change { try $0.storeSecret(named: name, candidate) }
        guard let secret = try self.read({ try $0.secret(named: name) }) else { throw .unavailable }
        return secret
    }

    // MARK: Users

    /// Adds a user with an access token; only the token's SHA-256 is stored.
    ///
    /// The caller makes `userRecordName` at random: `_` and 32 lower-case hexadecimal digits.
    /// `tokenHash` is the SHA-256 of the token, 32 bytes.
    ///
    /// - Throws: `userNameInvalid`, `userExists`.
    package func addUser(
        named name: String,
        userRecordName: String,
        tokenHash: [UInt8],
        toContainer container: String
    ) throws(DirectoryError) {
        guard NameRules.isItemName(name), NameRules.isUserRecordName(userRecordName) else {
            throw .userNameInvalid
        }
        try self.change {
            try $0.addUser(
                named: name,
                userRecordName: userRecordName,
                tokenHash: tokenHash,
                toContainer: container
            )
        }
    }

    /// All users of a container, by name.
    package func users(ofContainer container: String) throws(DirectoryError) -> [DirectoryUser] {
        try self.read { try $0.users(ofContainer: container) }
    }

    /// Revokes every token of a user; the user's records stay.
    ///
    /// A later `renewToken` lets them in again.
    ///
    /// - Throws: `userMissing`, `userIsService`.
    package func revokeUser(named name: String, inContainer container: String) throws(DirectoryError) {
        try self.change { try $0.revokeUser(named: name, inContainer: container) }
    }

    /// Restricts the processing of a user's data, or lifts that: while it lasts, no request of the
    /// user is executed, and their data stay as they are.
    ///
    /// - Throws: `userMissing`, `userIsService`.
    package func setRestriction(
        _ isRestricted: Bool,
        ofUser name: String,
        inContainer container: String
    ) throws(DirectoryError) {
        try self.change { try $0.setRestriction(isRestricted, ofUser: name, inContainer: container) }
    }

    /// Gives a user a new token in place of all others.
    ///
    /// - Throws: `userMissing`, `userIsService`.
    package func renewToken(
        ofUser name: String,
        inContainer container: String,
        tokenHash: [UInt8]
    ) throws(DirectoryError) {
        try self.change {
            try $0.renewToken(ofUser: name, inContainer: container, tokenHash: tokenHash)
        }
    }

    /// Gives a user a new token; the one before stays valid for this time, and any that is older
    /// ends now.
    ///
    /// - Throws: `userRevoked` if the user has none (`renewToken` lets them in again), `userMissing`,
    ///   `userIsService`.
    package func rotateToken(
        ofUser name: String,
        inContainer container: String,
        tokenHash: [UInt8],
        overlapMilliseconds: Int64
    ) throws(DirectoryError) {
        let until = self.clock() + overlapMilliseconds
        try self.change {
            try $0.rotateToken(
                ofUser: name,
                inContainer: container,
                tokenHash: tokenHash,
                untilMilliseconds: until
            )
        }
    }

    /// Replaces the e-mail addresses and phone numbers by which others find a user to share
    /// something with.
    ///
    /// - Throws: `contactTaken` if one of them belongs to another user, `userMissing`,
    ///   `userIsService`.
    package func setContacts(
        _ contacts: [IdentityLookup],
        ofUser name: String,
        inContainer container: String
    ) throws(DirectoryError) {
        try self.change { try $0.setContacts(contacts, ofUser: name, inContainer: container) }
    }

    // MARK: Keys of services

    /// Registers a key of a service, which is added with its first.
    ///
    /// - Throws: `userExists` if a person has the service's name, `userMissing` if a user for whom the key
    ///   may act is not there, `userNameInvalid`, `keyExists`, `tooManyKeys`.
    package func addServiceKey(
        _ key: NewServiceKey,
        toContainer container: String
    ) throws(DirectoryError) {
        guard NameRules.isItemName(key.serviceName), NameRules.isUserRecordName(key.userRecordName) else {
            throw .userNameInvalid
        }
        try self.change { try $0.addServiceKey(key, toContainer: container) }
    }

    /// All keys of a container's services, by the service's name and in the order of registration.
    package func serviceKeys(
        ofContainer container: String
    ) throws(DirectoryError) -> [DirectoryServiceKey] {
        try self.read { try $0.serviceKeys(ofContainer: container) }
    }

    /// Revokes one key of a service, or all, and returns how many.
    ///
    /// The records of the service stay.
    ///
    /// - Throws: `userMissing` if there is no such service, `keyMissing`.
    package func revokeServiceKeys(
        ofService name: String,
        keyID: String?,
        inContainer container: String
    ) throws(DirectoryError) -> Int {
        try self.change {
            try $0.revokeServiceKeys(ofService: name, keyID: keyID, inContainer: container)
        }
    }

    /// The public key of an ID in DER, unless it was revoked.
    package func publicKey(
        ofServiceKey id: String,
        inContainer container: String
    ) throws(DirectoryError) -> [UInt8]? {
        try self.read { try $0.goodKey(id, in: $0.container(container))?.publicKey }
    }

    // MARK: Reading and writing

    func read<Value>(_ read: (DirectoryLookup) throws -> Value) throws(DirectoryError) -> Value {
        do {
            return try self.engine.readTables { try read(DirectoryLookup(rows: $0)) }
        } catch let error as DirectoryError {
            throw error
        } catch {
            throw .unavailable
        }
    }

    /// Changes something in a transaction of its own, and waits until that is on disk.
    func change<Value: Sendable>(
        _ change: @escaping @Sendable (DirectoryChange) throws -> Value
    ) throws(DirectoryError) -> Value {
        try self.write {
            try change(DirectoryChange(rows: $0, nowMilliseconds: $0.nowMilliseconds))
        }
    }

    func write<Value: Sendable>(
        _ work: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) throws(DirectoryError) -> Value {
        do {
            return try self.engine.administer(work)
        } catch let error as DirectoryError {
            throw error
        } catch {
            throw .unavailable
        }
    }
}
