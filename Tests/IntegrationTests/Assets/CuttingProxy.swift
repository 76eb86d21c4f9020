import NIOCore
import NIOPosix
import Synchronization

/// Stands between a client and a server, counts bytes, and cuts connections at chosen bytes.
final class CuttingProxy: Sendable {
    struct Counts: Hashable {
        var toServer = 0
        var toClient = 0
        var connections = 0
    }

    private struct State {
        var counts = Counts()
        /// Bytes since the start after which to cut, ascending.
        var cuts: [Int]
    }

    enum Direction { case toServer, toClient }

    private let direction: Direction
    private let state: Mutex<State>
    private let channel = Mutex<(any Channel)?>(nil)

    /// Cuts after these many bytes, all connections together, in one direction.
    init(cutting direction: Direction = .toServer, after cuts: [Int] = []) {
        self.direction = direction
        self.state = Mutex(State(cuts: cuts.sorted()))
    }

    var counts: Counts { self.state.withLock { $0.counts } }
    var cutsLeft: Int { self.state.withLock { $0.cuts.count } }

    /// Takes connections for a server on loopback, and after the last cut for another one if there is one;
    /// returns the port.
    func start(for port: Int, then next: Int? = nil) async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                ClientBootstrap(group: client.eventLoop)
                    .channelInitializer { server in
                        server.eventLoop.makeCompletedFuture {
                            try server.pipeline.syncOperations.addHandler(
                                Forwarder(to: client) { self.passes($0, .toClient) }
                            )
                        }
                    }
                    .connect(host: "127.0.0.1", port: self.cutsLeft > 0 ? port : next ?? port)
                    .flatMapThrowing { server in
                        self.state.withLock { $0.counts.connections += 1 }
                        try client.pipeline.syncOperations.addHandler(
                            Forwarder(to: server) { self.passes($0, .toServer) }
                        )
                    }
                    .flatMap { client.setOption(.autoRead, value: true) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.channel.withLock { $0 = channel }
        return channel.localAddress?.port ?? 0
    }

    func stop() async throws {
        try await self.channel.withLock { $0.take() }?.close()
    }

    /// Counts bytes that are to pass.
    ///
    /// - Returns: How many of them may pass before the connection is cut, or `nil` if all may.
    private func passes(_ bytes: Int, _ direction: Direction) -> Int? {
        self.state.withLock { state in
            let before = direction == .toServer ? state.counts.toServer : state.counts.toClient
            var passing = bytes
            var isCut = false
            if direction == self.direction, let cut = state.cuts.first, cut < before + bytes {
                passing = max(0, cut - before)
                state.cuts.removeFirst()
                isCut = true
            }
            if direction == .toServer {
                state.counts.toServer += passing
            } else {
                state.counts.toClient += passing
            }
            return isCut ? passing : nil
        }
    }
}

/// Passes on what it reads, no faster than the other side takes it.
private final class Forwarder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel
    private let passes: (Int) -> Int?

    init(to other: any Channel, passes: @escaping (Int) -> Int?) {
        self.other = other
        self.passes = passes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        guard let passing = self.passes(bytes.readableBytes) else {
            self.other.writeAndFlush(bytes, promise: nil)
            if !self.other.isWritable {
                context.channel.setOption(.autoRead, value: false).whenComplete { _ in }
            }
            return
        }
        let last = bytes.readSlice(length: passing) ?? ByteBuffer()
        let (here, other) = (context.channel, self.other)
        other.writeAndFlush(last).whenComplete { _ in
            other.close(promise: nil)
            here.close(promise: nil)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.other.setOption(.autoRead, value: context.channel.isWritable).whenComplete { _ in }
    }

    func channelInactive(context: ChannelHandlerContext) { self.other.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
