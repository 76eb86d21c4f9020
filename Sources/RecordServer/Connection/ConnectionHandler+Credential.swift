import RecordModel
import NIOCore
import NIOPosix
import RecordStore
import Transport
import WireProtocol

// The end of a connection whose credential has ended.
extension ConnectionHandler {
    /// Keeps what the connection was opened with, for as long as it lasts.
    func holdCredential(_ admittance: Admittance) {
        self.credential = admittance.credential
        self.setExpiry(admittance.expiresMilliseconds)
        // What changed between the look into the directory and now was not known to be about this connection.
        if self.server.credentialWatch.version > admittance.version { self.recheckCredential() }
    }

    /// Lets go of it; called once, when the connection has ended.
    func forgetCredential() {
        self.credential = nil
        self.challenged = nil
        self.setExpiry(nil)
    }

    /// Something about these users was changed.
    func credentialsChanged(of users: Set<UserNumber>) {
        guard let credential, credential.users.contains(where: users.contains) else { return }
        self.recheckCredential()
    }

    /// Ends the connection if its time is over.
    func endIfExpired(nowMilliseconds: Int64) {
        guard let expiresMilliseconds, expiresMilliseconds <= nowMilliseconds else { return }
        self.close(.credentialExpired)
    }

    /// Closes the connection unless the directory still admits its credential.
    @discardableResult
    func recheckCredential() -> EventLoopFuture<Void> {
        guard let credential else { return self.eventLoop.makeSucceededVoidFuture() }
        let directory = self.server.store.directory
        let look = self.server.credentialWatch.threads.runIfActive(eventLoop: self.eventLoop) {
            Result { () throws(DirectoryError) in try directory.recheck(credential) }
        }
        return look.assumeIsolated().always { result in
            guard self.context != nil, self.credential == credential else { return }
            switch result {
            case .success(.success(let end)):
                // A token of an identity provider has its own end, which the directory does not know.
                if case .identity = credential { return }
                self.setExpiry(end)
            case .success(.failure(.unavailable)):
                self.eventLoop.assumeIsolated().scheduleTask(in: CredentialWatch.interval) {
                    self.recheckCredential()
                }
            case .success(.failure): self.close(.notAuthenticated)
            case .failure: break
            }
        }.map { _ in }.nonisolated()
    }

    private func setExpiry(_ milliseconds: Int64?) {
        self.expiresMilliseconds = milliseconds
        self.loop.expires(self, milliseconds != nil, counted: self.server.credentialWatch)
    }
}
