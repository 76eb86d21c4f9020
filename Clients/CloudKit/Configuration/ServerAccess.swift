internal import RecordClient
private import Synchronization
private import WireProtocol

/// A container's way to its server: found out at the first request, then the same for good.
final class ServerAccess: Sendable {
    /// What a request needs.
    struct Session: Sendable {
        var client: RecordClient
        var isSignedIn: Bool
        let user: UserName
        let signIn: SignInAnswer
        /// `nil`: any schema will do.
        let gate: SchemaGate?
        let notifications: NotificationHub
        /// What readers of feeds were told; `nil`: nobody keeps it.
        let ledgers: Ledgers?
        /// Files of assets that were fetched.
        let cache: AssetCache
        /// Where the server is, as URLs of shares say it.
        let address: String

        /// The record name of the user, empty when nobody is signed in; `nil` while something must be asked before the first request.
        var userIfOpen: String? {
            self.gate.map(\.isOpen) ?? true ? self.user.known : nil
        }

        /// Asks what must be asked before the first request.
        ///
        /// - Returns: The record name of the user, empty when nobody is signed in.
        /// - Throws: Why there can be no request.
        func open(_ patience: Patience) async throws(CKError) -> String {
            let user: String
            do throws(ClientError) {
                // A name that is known is no news: nobody was asked.
                let isKnown = self.user.known != nil
                user = try await self.user.fetched(from: self.client, timeout: patience.connection)
                if !isKnown { self.heard(userNamed: user) }
                try await self.gate?.ask(self.client, timeout: patience.request)
            } catch {
                self.heard(error)
                throw CKError(error)
            }
            if let missing = self.gate?.missing, !missing.isEmpty { throw .schemaLacks(missing) }
            return user
        }

        /// Notes what a failure says about the token.
        func heard(_ error: ClientError) {
            guard self.isSignedIn, error.isOfCredential else { return }
            self.signIn.note(isAccepted: false)
        }

        /// Notes that the server greeted a user by name.
        func heard(userNamed name: String) {
            if self.isSignedIn { self.signIn.note(isAccepted: !name.isEmpty) }
        }
    }

    /// `nil`: the process's default container, and the environment names none.
    let identifier: String?
    private let given: CKServerConnection?
    private let opened = Mutex<Session?>(nil)

    init(identifier: String?, connection: CKServerConnection?) {
        self.identifier = identifier
        self.given = connection
    }

    /// The session, which all containers of the same identifier and connection share.
    ///
    /// Does not connect.
    ///
    /// - Throws: `CKError.badContainer` while the configuration is incomplete or malformed; asked again, it looks again.
    func session() throws(CKError) -> Session {
        if let opened = self.opened.withLock({ $0 }) { return opened }
        guard let identifier = self.identifier else {
            throw CKError.local(
                .badContainer,
                "There is no default container: set \(CKServerConnection.Variable.container) to its identifier"
            )
        }
        let connection = if let given = self.given { given } else { try CKServerConnection.configured() }
        let session = try SharedSessions.session(identifier: identifier, connection: connection)
        self.opened.withLock { $0 = session }
        return session
    }
}
