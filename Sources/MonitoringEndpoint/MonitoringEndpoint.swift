import FileIO
package import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// Serves pages over HTTP to programs on this machine.
///
/// It has a thread of its own, so that it answers when the server is busy, and takes nothing from
/// the server's event loops.
package final class MonitoringEndpoint: Sendable {
    /// Length of the kernel's queue of connections that wait to be accepted.
    private static let backlogConnections: Int32 = 16
    private static let readBytes = 4_096

    /// The address that it listens on; has the chosen port if the configured one was 0.
    package let address: EndpointAddress
    private let listener: any Channel
    private let group: MultiThreadedEventLoopGroup
    private let socketFile: UnixSocketFile?

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - address: The address to listen on.
    ///   - pages: The closure that makes each page, by path; concurrent requests get the same page.
    ///   - bounds: The memory and time that clients may take.
    ///   - logger: Gets a line a minute about refused clients.
    /// - Throws: `EndpointFailure`.
    package init(
        on address: EndpointAddress,
        pages: [String: @Sendable () async -> EndpointPage],
        bounds: EndpointBounds = .defaults,
        logger: Logger
    ) async throws {
        self.group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            if case .unix(let path) = address { try UnixSocketFile.free(path) }
            self.listener = try await Self.listen(
                on: address,
                self.group,
                pages: pages,
                bounds: bounds,
                logger: logger
            )
        } catch {
            try? await self.group.shutdownGracefully()
            if let error = error as? IOError { throw EndpointFailure.refused(errno: error.errnoCode) }
            throw error
        }
        switch address {
        case .unix(let path):
            self.socketFile = UnixSocketFile(bound: path)
            self.address = address
        case .loopback(let asked):
            self.socketFile = nil
            let port = self.listener.localAddress?.port ?? asked.port
            self.address =
                EndpointAddress.Loopback(host: asked.host, port: port).map { .loopback($0) } ?? address
        }
    }

    /// Stops at once, even with pending requests.
    package func stop() async {
        self.socketFile?.remove()
        try? await self.listener.close()
        try? await self.group.shutdownGracefully()
    }

    private static func listen(
        on address: EndpointAddress,
        _ group: MultiThreadedEventLoopGroup,
        pages: [String: @Sendable () async -> EndpointPage],
        bounds: EndpointBounds,
        logger: Logger
    ) async throws -> any Channel {
        let eventLoop = group.next()
        let checksHost = if case .loopback = address { true } else { false }
        let connections = try await eventLoop.submit {
            let rules = EndpointRules(paths: Set(pages.keys), checksHost: checksHost)
            let connections = EndpointConnections(
                pages: pages,
                rules: rules,
                bounds: bounds,
                eventLoop: eventLoop,
                logger: logger
            )
            return NIOLoopBound(connections, eventLoop: eventLoop)
        }.get()
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelInitializer { listener in
                listener.eventLoop.makeCompletedFuture {
                    try listener.pipeline.syncOperations.addHandler(
                        AcceptPause { _ in connections.value.tell("the system has no room for another") }
                    )
                }
            }
            .serverChannelOption(.backlog, value: Self.backlogConnections)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(
                .recvAllocator,
                value: FixedSizeRecvByteBufferAllocator(capacity: Self.readBytes)
            )
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try Self.open(channel, connections.value) }
            }
        switch address {
        case .unix(let path): return try await bootstrap.bind(unixDomainSocketPath: path).get()
        case .loopback(let loopback): return try await bootstrap.bind(to: loopback.socketAddress).get()
        }
    }

    private static func open(_ channel: any Channel, _ connections: EndpointConnections) throws {
        let pipeline = channel.pipeline.syncOperations
        guard connections.makesRoom() else {
            connections.tell("there are \(connections.bounds.connectionsMax) others")
            return try pipeline.addHandler(RefusedConnection())
        }
        let bytesBound = RequestBytesBound(connections)
        try pipeline.addHandler(bytesBound)
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: true,
            withErrorHandling: true,
            withOutboundHeaderValidation: true
        )
        try pipeline.addHandler(EndpointHandler(connections, bytesBound))
    }
}
