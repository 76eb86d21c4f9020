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

        /// Notes what a failure says about the token.
        func heard(_ error: ClientError) {
            if self.isSignedIn, case .rejected(.notAuthenticated, _) = error {
                self.signIn.note(isAccepted: false)
            }
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
