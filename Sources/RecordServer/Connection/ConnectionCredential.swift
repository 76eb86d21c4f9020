import NIOCore
import NIOPosix
import RecordModel
import RecordStore
import WireProtocol

/// The credential of a connection, and the end that it sets.
final class ConnectionCredential {
    private let connection: Connection
    private let directory: Directory
    private let watch: CredentialWatch
    /// `nil` if nobody is signed in, and when the connection has ended.
    private var credential: Credential?
    /// `nil` if the connection may last until something is taken away.
    private var expiresMilliseconds: Int64?
    /// Whether the connection was opened by a user whose requests are not executed.
    private let isRestricted: Bool

    /// Keeps what the connection was opened with, for as long as it lasts.
    init(_ admittance: Admittance, of connection: Connection, server: ServerContext) {
        self.connection = connection
        self.directory = server.store.directory
        self.watch = server.credentialWatch
        self.credential = admittance.credential
        self.isRestricted = admittance.isRestricted
        self.setExpiry(admittance.expiresMilliseconds)
        // What changed between the look into the directory and now was not known to be about this
        // connection.
        if self.watch.version > admittance.version { self.recheck() }
    }

    var number: UInt64 { self.connection.number }

    /// Lets go of it; called when the connection has ended.
    func end() {
        self.credential = nil
        self.setExpiry(nil)
    }

    /// Something about these users was changed.
    func changed(of users: Set<UserNumber>) {
        guard let credential, credential.users.contains(where: users.contains) else { return }
        self.recheck()
    }

    /// Ends the connection if its time is over.
    func endIfExpired(nowMilliseconds: Int64) {
        guard let expiresMilliseconds, expiresMilliseconds <= nowMilliseconds else { return }
        self.connection.close(.credentialExpired)
    }

    /// Closes the connection unless the directory still admits its credential, as it did.
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
                // A token of an identity provider has its own end, which the directory does not
                // know.
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
