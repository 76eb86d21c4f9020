import NIOCore
import NIOPosix
import RecordModel
import RecordStore
import StorageContract
import WireProtocol

/// The credential of a connection, and its expiry.
final class ConnectionCredential {
    private let connection: Connection
    private let directory: Directory
    private let watch: CredentialWatch
    /// `nil` if no user is signed in, and when the connection has ended.
    private var credential: Credential?
    /// When the credential expires, in milliseconds since 1970; `nil` if it does not.
    private var expiresMilliseconds: Int64?
    /// Whether the user was restricted when the connection opened.
    private let isRestricted: Bool

    /// Keeps the credential of a connection until its end.
    init(_ admittance: Admittance, of connection: Connection, server: ServerContext) {
        self.connection = connection
        self.directory = server.store.directory
        self.watch = server.credentialWatch
        self.credential = admittance.credential
        self.isRestricted = admittance.isRestricted
        self.setExpiry(admittance.expiresMilliseconds)
        // Changes between the directory look-up and now were not yet matched with this connection.
        if self.watch.version > admittance.version { self.recheck() }
    }

    var number: UInt64 { self.connection.number }

    /// Releases the credential after the connection has ended.
    func end() {
        self.credential = nil
        self.setExpiry(nil)
    }

    /// These users were changed.
    func changed(of users: Set<UserNumber>) {
        guard let credential, credential.users.contains(where: users.contains) else { return }
        self.recheck()
    }

    /// Ends the connection if its credential has expired.
    func endIfExpired(nowMilliseconds: Int64) {
        guard let expiresMilliseconds, expiresMilliseconds <= nowMilliseconds else { return }
        self.connection.close(.credentialExpired)
    }

    /// Closes the connection unless the directory still admits its credential unchanged.
    @discardableResult
    func recheck() -> EventLoopFuture<Void> {
        let eventLoop = self.connection.eventLoop
        guard let credential else { return eventLoop.makeSucceededVoidFuture() }
        let directory = self.directory
        let look = self.watch.threads.runIfActive(eventLoop: eventLoop) {
            Result { () throws(DirectoryError) in try directory.recheck(credential) }
        }
        return look.assumeIsolated().always { result in
            guard self.connection.isOpen, self.credential == credential else { return }
            switch result {
            case .success(.success(let state)) where state.isRestricted != self.isRestricted:
                self.connection.close(.accountChanged)
            case .success(.success(let state)):
                // An identity provider's token has an expiry of its own, unknown to the directory.
                if case .identity = credential { return }
                self.setExpiry(state.expiresMilliseconds)
            case .success(.failure(.unavailable)):
                eventLoop.assumeIsolated().scheduleTask(in: CredentialWatch.interval) { self.recheck() }
            case .success(.failure): self.connection.close(.notAuthenticated)
            case .failure: break
            }
        }.map { _ in }.nonisolated()
    }

    private func setExpiry(_ milliseconds: Int64?) {
        self.expiresMilliseconds = milliseconds
        self.connection.loop.expires(self, milliseconds != nil, counted: self.watch)
    }
}
