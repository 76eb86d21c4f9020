import Admission
import RecordModel
import RecordStore
import StorageContract
import WireProtocol

/// The user of a connection, as determined by sign-in.
struct ConnectionUser: Sendable {
    let signIn: SignIn
    let container: String
    let environment: Environment
    /// 16 bytes, or none.
    let installation: [UInt8]
    /// The network of the connection's address.
    let network: String
    /// The ID of the connection's service key, if the key may only read; otherwise `nil`.
    var readOnlyKeyID: String?
    /// Whether no request of the user is executed.
    var isRestricted = false
    /// Of the current request.
    var mark = RequestMark.none
    /// Of the current request: milliseconds since 1970.
    var deadlineMilliseconds = Int64.max

    /// The listener that notifications and acknowledgements belong to.
    ///
    /// `nil` if the client did not name its installation.
    var listenerIdentity: ListenerIdentity? {
        guard !self.installation.isEmpty else { return nil }
        return ListenerIdentity(installation: self.installation, signIn: self.signIn)
    }

    /// Refuses every operation of a restricted user, and writes if the connection's key is
    /// read-only.
    ///
    /// - Throws: `managedAccountRestricted`, or `permissionFailure`, which names the key.
    func check(_ operation: Operation) throws(Failure) {
        guard !self.isRestricted else { throw .accountRestricted }
        guard let keyID = self.readOnlyKeyID, operation.storesAnything else { return }
        throw .readOnlyKey(keyID)
    }

    /// The holder of the account that is charged for the connection.
    var holder: AccountHolder {
        self.signIn.userRecordName.map { .user(environment: self.signIn.environment.rawValue, $0) }
            ?? .address(self.network)
    }

    /// The database that a scope refers to for this user.
    ///
    /// - Throws: `notAuthenticated` if the scope requires a signed-in user and there is none.
    func requester(for scope: DatabaseScope, writing: Bool) throws(Failure) -> Requester {
        let database: DatabaseID
        switch scope {
        case .shared: database = try self.own(self.signIn.sharedDatabase)
        case .private: database = try self.own(self.signIn.privateDatabase)
        case .public:
            guard !writing || self.signIn.userRecordName != nil else { throw Failure(StoreError.notSignedIn) }
            database = self.signIn.publicDatabase
        }
        var requester = Requester(
            database: database,
            scope: scope,
            environment: self.signIn.environment,
            userRecordName: self.signIn.userRecordName,
            mark: self.mark.value,
            network: self.network,
            deadlineMilliseconds: self.deadlineMilliseconds
        )
        if writing { requester.installation = InstallationID(self.installation) }
        return requester
    }

    private func own(_ database: DatabaseID?) throws(Failure) -> DatabaseID {
        if let database { return database }
        guard self.signIn.userRecordName != nil else { throw Failure(StoreError.notSignedIn) }
        throw Failure(
            code: .permissionFailure,
            message: "a service has no database of its own: it may act on behalf of a user",
            retry: .never
        )
    }
}
