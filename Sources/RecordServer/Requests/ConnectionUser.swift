import RecordModel
import RecordStore
import WireProtocol

/// What a connection may use, as sign-in found it.
struct ConnectionUser: Sendable {
    let signIn: SignIn
    let container: String
    let environment: Environment
    /// 16 bytes, or none.
    let installation: [UInt8]

    /// What its notifications and their acknowledgements belong to; `nil`: the client did not say which installation it is.
    var listenerIdentity: ListenerIdentity? {
        guard !self.installation.isEmpty else { return nil }
        return ListenerIdentity(installation: self.installation, signIn: self.signIn)
    }

    /// The database that a scope means to this user.
    ///
    /// - Throws: `badDatabase` for the shared scope, `notAuthenticated` when nobody is signed in and somebody must be.
    func requester(for scope: DatabaseScope, writing: Bool) throws(Failure) -> Requester {
        let database: DatabaseID
        switch scope {
        case .shared:
            throw Failure(
                code: .badDatabase,
                message: "this version has no shared databases",
                retry: .never
            )
        case .private:
            guard let own = self.signIn.privateDatabase else {
                guard self.signIn.userRecordName != nil else { throw Failure(StoreError.notSignedIn) }
                throw Failure(
                    code: .permissionFailure,
                    message: "a service has no private database: it may act on behalf of a user",
                    retry: .never
                )
            }
            database = own
        case .public:
            guard !writing || self.signIn.userRecordName != nil else { throw Failure(StoreError.notSignedIn) }
            database = self.signIn.publicDatabase
        }
        return Requester(
            database: database,
            scope: scope,
            environment: self.signIn.environment,
            userRecordName: self.signIn.userRecordName
        )
    }
}
