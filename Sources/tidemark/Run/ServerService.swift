import Console
import Foundation
import RecordServer
import RecordStore
import ServiceLifecycle

/// Starts the server, announces its address, and shuts it down gracefully on a signal.
struct ServerService: Service {
    let server: RecordServer
    let store: Store
    /// The format of the store.
    let format: Int
    /// Settings of a database that were off at the start, and without which a crash loses saves.
    let unsafeSettings: [String]
    let socket: BoundSocket
    /// `nil` if CloudKit Web Services are not served.
    let web: WebListener?
    /// Kept for the life of the server.
    let lock: DataFolderLock
    let listen: ListenAddress
    /// `nil` if the certificate is the operator's.
    let authorityPath: String?
    let supervisor: Supervisor
    let settings: LiveSettings
    /// The location at which other processes find the log.
    let log: LogDestination

    func run() async throws {
        let port: Int
        do {
            port = try await self.server.start(on: self.socket).port
        } catch {
            await self.store.shutdown()
            if let failure = error as? BoundSocket.Failure {
                throw ListenAdvice.failure(failure, self.listen)
            }
            throw CommandFailure(.unavailable, "the server cannot start: \(error).")
        }
        let address = ListenAddress(host: self.listen.host, port: port)
        let service = LockHolder.Service(
            listen: address,
            version: Tidemark.version,
            format: self.format,
            since: Date().formatted(.iso8601),
            log: self.log,
            unsafeSettings: self.unsafeSettings
        )
        self.lock.write(LockHolder(process: getpid(), service: service))
        var text = "Tidemark \(Tidemark.version) listens on \(address)\n"
        if let authorityPath = self.authorityPath { text += "Clients trust \(authorityPath)\n" }
        do {
            if let web = self.web { text += try await web.start(beside: self.server) }
        } catch {
            await self.server.shutdown(grace: .zero)
            await self.store.shutdown()
            throw error
        }
        Terminal.write(text)
        let variables = ClientVariables(
            address: ListenAddress(host: self.listen.host, port: port),
            authorityPath: self.authorityPath
        )
        Terminal.write(variables.lines)
        self.supervisor.tell(.ready(address: "\(address)"))
        // An error here is a cancellation, which leads to the same shutdown.
        try? await gracefulShutdown()
        self.supervisor.tell(.stopping)
        await self.server.shutdown(grace: .seconds(self.settings.current.drainSeconds))
        self.web?.end()
        await self.store.shutdown()
    }
}
