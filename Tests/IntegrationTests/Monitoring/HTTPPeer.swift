import NIOCore
import NIOPosix
import Synchronization

@testable import MonitoringEndpoint

/// A client that sends whatever bytes it is told to, and collects what comes back.
struct HTTPPeer {
    private let channel: any Channel
    private let received: ReceivedText

    static func connect(_ address: EndpointAddress) async throws -> HTTPPeer {
        let received = ReceivedText()
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TextCollector(received))
                }
            }
        let channel =
            switch address {
            case .loopback(let loopback): try await bootstrap.connect(to: loopback.socketAddress).get()
            case .unix(let path): try await bootstrap.connect(unixDomainSocketPath: path).get()
            }
        return HTTPPeer(channel: channel, received: received)
    }

    /// Sends a request on a connection of its own, and returns all that comes until the connection
    /// ends.
    static func ask(
        _ address: EndpointAddress,
        _ path: String,
        method: String = "GET",
        host: String? = "localhost"
    ) async throws -> Response {
        let peer = try await self.connect(address)
        let field = host.map { "Host: \($0)\r\n" } ?? ""
        await peer.send("\(method) \(path) HTTP/1.1\r\n\(field)Connection: close\r\n\r\n")
        return Response(await peer.all())
    }

    /// An endpoint that has closed already is what some tests expect.
    func send(_ text: String) async { try? await self.channel.writeAndFlush(ByteBuffer(string: text)) }

    func send(_ bytes: [UInt8]) async { try? await self.channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

    /// What has come when the body finds something in it, or everything at the end of the
    /// connection.
    func text(until isEnough: (String) -> Bool) async -> String {
        while !self.received.isEnded, !isEnough(self.received.text) {
            try? await Task.sleep(for: .milliseconds(5))
        }
        return self.received.text
    }

    func all() async -> String { await self.text { _ in false } }

    func close() async { try? await self.channel.close().get() }

    struct Response {
        let status: Int
        /// By names in lower case.
        let fields: [String: String]
        let body: String

        init(_ text: String) {
            let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
            let lines = (parts.first ?? "").split(separator: "\r\n")
            let words = (lines.first ?? "").split(separator: " ")
            self.status = words.count > 1 ? Int(words[1]) ?? 0 : 0
            var fields: [String: String] = [:]
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { continue }
                let value = line[line.index(after: colon)...].drop { $0 == " " }
                fields[line[..<colon].lowercased()] = String(value)
            }
            self.fields = fields
            self.body = parts.count > 1 ? String(parts[1]) : ""
        }
    }
}

private final class ReceivedText: Sendable {
    private let state = Mutex((text: "", isEnded: false))

    var text: String { self.state.withLock { $0.text } }
    var isEnded: Bool { self.state.withLock { $0.isEnded } }

    func append(_ text: String) { self.state.withLock { $0.text += text } }
    func end() { self.state.withLock { $0.isEnded = true } }
}

private final class TextCollector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let received: ReceivedText

    init(_ received: ReceivedText) {
        self.received = received
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.received.append(String(buffer: self.unwrapInboundIn(data)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) { self.received.end() }
}
