import RecordModel

internal import RecordClient
private import Synchronization
internal import WireProtocol

/// A container's connection to its server, resolved at the first request and then kept until the
/// container is released.
final class ServerAccess: Sendable {
    /// Everything that a request needs.
    struct Session: Sendable {
        var client: RecordClient
        var isSignedIn: Bool
        let environment: CKServerConnection.Environment
        let user: UserName
        let signIn: SignInResponse
        /// `nil` if any schema will do.
        let gate: SchemaGate?
        let notifications: NotificationHub
        /// The ledgers of feeds; `nil` if none are kept.
        let ledgers: Ledgers?
        /// The cache of asset files.
        let cache: AssetCache
        /// The address of the server, as in the URLs of shares.
        let address: String

        /// The record name of the user, empty if none is signed in; `nil` while the server must
        /// be asked before the first request.
        var userIfOpen: String? {
            self.gate.map(\.isOpen) ?? true ? self.user.known : nil
        }

        /// Asks the server what must be known before the first request.
        ///
        /// - Returns: The record name of the user, empty if none is signed in.
        /// - Throws: `CKError` if no request is possible.
        func open(_ timeouts: Timeouts) async throws(CKError) -> String {
            let user: String
            do throws(ClientError) {
                // If the name is known, the server was not asked.
                let isKnown = self.user.known != nil
                user = try await self.user.fetched(from: self.client, timeout: timeouts.connection)
                if !isKnown { self.note(userNamed: user) }
                try await self.gate?.ask(self.client, timeout: timeouts.request)
            } catch {
                self.note(error)
                throw CKError(error)
            }
            if let missing = self.gate?.missing, !missing.isEmpty { throw .schemaLacks(missing) }
            return user
        }

        /// Notes what a failure says about the token, or about the account.
        func note(_ error: ClientError) {
            guard self.isSignedIn else { return }
            if error.isOfCredential { self.signIn.note(isAccepted: false) }
            if error.isOfRestriction { self.noteRestriction() }
        }

        /// Notes what the beginning of a connection says.
        func note(_ welcome: Welcome) {
            guard !welcome.isRestricted else { return self.noteRestriction() }
            self.note(userNamed: welcome.userRecordName)
        }

        private func noteRestriction() {
            self.signIn.noteRestriction()
            if self.signIn.await() { self.askUntilAnswered() }
        }

        /// Notes that the server has accepted the token of a user.
        func note(userNamed name: String) {
            if self.isSignedIn { self.signIn.note(isAccepted: !name.isEmpty) }
        }
    }

    /// `nil` for the process's default container, if the environment names none.
    let identifier: String?
    private let given: CKServerConnection?
    private let opened = Mutex<SessionUse?>(nil)

    init(identifier: String?, connection: CKServerConnection?) {
        self.identifier = identifier
        self.given = connection
    }

    /// Returns the session that all containers with the same identifier and connection share.
    ///
    /// It does not connect.
    ///
    /// - Throws: `CKError.badContainer` while the configuration is incomplete or invalid; each call
    ///   looks again.
    func session() throws(CKError) -> Session {
        if let opened = self.opened.withLock({ $0 }) { return opened.session }
        guard let identifier = self.identifier else {
            throw CKError.local(
                .badContainer,
                "There is no default container: set \(CKServerConnection.Variable.container) to its identifier"
            )
        }
        let use = try SharedSessions.use(identifier: identifier, connection: try self.connection())
        // The use that another thread has begun meanwhile ends behind the lock.
        let other = self.opened.withLock { opened in
            defer { opened = use }
            return opened
        }
        return withExtendedLifetime(other) { use.session }
    }

    /// Returns the connection that was given, else the process's.
    ///
    /// - Throws: `CKError.badContainer` if a setting is missing.
    func connection() throws(CKError) -> CKServerConnection {
        if let given = self.given { given } else { try CKServerConnection.configured() }
    }
}
