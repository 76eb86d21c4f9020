package import NIOCore
import NIOPosix
import Synchronization

extension RecordServer {
    /// Listens for connections of another protocol.
    ///
    /// They share the event loops, accounts, certificate and store of the server's own, and end with
    /// them. The server must be running.
    ///
    /// - Parameters:
    ///   - socket: The address.
    ///   - isEncrypted: Whether clients speak TLS, with `http/1.1` as the application protocol.
    ///   - open: Adds the handlers of a connection, on its event loop.
    /// - Returns: The port; `nil` for a Unix socket.
    /// - Throws: An error of the system about the socket.
    package func listenBeside(
        on socket: BoundSocket,
        isEncrypted: Bool,
        open: @escaping @Sendable (any Channel, DoorConnection) throws -> Void
    ) async throws -> Int? {
        let running = self.running.withLock { $0 }
        guard let running else { preconditionFailure("a server that does not run has no event loops") }
        let (context, certificate, door) = (self.context, self.tls, self.door)
        let loops = Dictionary(
            uniqueKeysWithValues: running.loops.map { (ObjectIdentifier($0.eventLoop), $0.context) }
        )
        context.doorTurns.start()
        let descriptor = socket.take()
        let listener = try await self.bootstrap(running.group)
            .childChannelInitializer { channel in
                let network = RefusalPace.network(of: channel.remoteAddress)
                guard let (account, isRefused) = context.accept(from: network) else { return channel.close() }
                guard let loop = loops[ObjectIdentifier(channel.eventLoop)] else {
                    preconditionFailure("a channel of a loop that is not the server's")
                }
                return channel.eventLoop.makeCompletedFuture {
                    let connection = DoorConnection(
                        context,
                        channel,
                        network: network,
                        account: account,
                        isRefused: isRefused
                    )
                    channel.closeFuture.assumeIsolated().whenComplete { _ in connection.ended() }
                    door.opened(channel)
                    if isEncrypted {
                        try channel.pipeline.syncOperations.addHandlers(
                            HandshakeTurn(turns: loop.value.handshakes, holder: account.holder),
                            TLSSetup.handler(certificate.current.webContext)
                        )
                    }
                    try open(channel, connection)
                }
            }
            .withBoundSocket(descriptor)
            .get()
        socket.restoreBacklog(of: descriptor)
        door.listens(listener)
        return listener.localAddress?.port
    }
}
