import RecordServer
import RecordStore
import ServiceLifecycle

/// Starts the server, says where it is, and stops it in order when the process is told to.
struct ServerService: Service {
    let server: RecordServer
    let engine: any StorageEngine
    let listen: ListenAddress
    /// `nil`: the certificate is the operator's.
    let authorityPath: String?
    let drain: Duration

    func run() async throws {
        let port: Int
        do {
            port = try await self.server.start().port
        } catch {
            await self.engine.shutdown()
            throw CommandFailure(
                .unavailable,
                "cannot listen on \(self.listen): \(error). Choose another address with --listen HOST:PORT."
            )
        }
        var text =
            "Tidemark \(Tidemark.version) listens on \(ListenAddress(host: self.listen.host, port: port))\n"
        if let authorityPath = self.authorityPath { text += "Clients trust \(authorityPath)\n" }
        Terminal.write(text)
        let variables = ClientVariables(
            address: ListenAddress(host: self.listen.host, port: port),
            authorityPath: self.authorityPath
        )
        Terminal.write(variables.lines)
        // An error here is a cancellation: the same way out.
        try? await gracefulShutdown()
        await self.server.shutdown(grace: self.drain)
        await self.engine.shutdown()
    }
}
