import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A client that sends the fields that it is told to, as no browser would.
struct ConsoleClient: Sendable {
    enum Address: Sendable {
        case port(Int)
        case socket(String)
    }

    let address: Address
    /// The field `Host`.
    var host: String
    var cookie: String?

    /// `host` is the name in the console's URLs.
    init(port: Int, host: String = "localhost") {
        self.address = .port(port)
        self.host = "\(host):\(port)"
    }

    init(socket: String, host: String) {
        self.address = .socket(socket)
        self.host = host
    }

    /// A client of the console that printed a text, and the path of the link in it; `nil` if it has none.
    static func printed(_ text: String) -> (client: ConsoleClient, linkPath: String)? {
        guard let link = text.firstMatch(of: /http:\/\/(console-\w+\.localhost):(\d+)(\/open\/\w+)/),
            let port = Int(link.2)
        else { return nil }
        return (ConsoleClient(port: port, host: String(link.1)), String(link.3))
    }

    /// Opens the link, and has the session's cookie from then on.
    mutating func open(_ path: String) async throws -> ConsoleResponse {
        let response = try await self.get(path)
        if let cookie = response.fields["set-cookie"] {
            self.cookie = String(cookie.prefix { $0 != ";" })
        }
        return response
    }

    func get(_ path: String, _ fields: [String: String] = [:]) async throws -> ConsoleResponse {
        try await self.send("GET", path, fields, body: "")
    }

    /// Sends a form as a page of the console does, with what `fields` says instead.
    func post(
        _ path: String,
        _ form: String,
        _ fields: [String: String] = [:]
    ) async throws -> ConsoleResponse {
        let usual = [
            "Origin": "http://\(self.host)", "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/x-www-form-urlencoded",
        ]
        return try await self.send("POST", path, usual.merging(fields) { $1 }, body: form)
    }

    func send(
        _ method: String,
        _ path: String,
        _ fields: [String: String],
        body: String
    ) async throws -> ConsoleResponse {
        let peer = try await self.peer(method, path, fields, body: body)
        let response = ConsoleResponse(await peer.bytes { ConsoleResponse($0).isComplete })
        await peer.close()
        return response
    }

    /// Begins a request whose response goes on.
    ///
    /// A slow reader takes the beginning of the response, and the rest when it is told to.
    func peer(
        _ method: String,
        _ path: String,
        _ fields: [String: String] = [:],
        body: String = "",
        isSlow: Bool = false
    ) async throws -> ConsolePeer {
        var all = ["Host": self.host, "Connection": "close", "Cookie": self.cookie ?? ""]
        if !body.isEmpty { all["Content-Length"] = "\(body.utf8.count)" }
        all.merge(fields) { $1 }
        let lines = all.filter { !$0.value.isEmpty }.map { "\($0.key): \($0.value)\r\n" }.joined()
        let peer = try await ConsolePeer.connect(self.address, isSlow: isSlow)
        await peer.send("\(method) \(path) HTTP/1.1\r\n\(lines)\r\n\(body)")
        return peer
    }
}

struct ConsoleResponse {
    let status: Int
    /// By names in lower case.
    let fields: [String: String]
    let bytes: [UInt8]

    var body: String { String(decoding: self.bytes, as: UTF8.self) }

    /// Whether all bytes have come that the head announces.
    var isComplete: Bool { self.fields["content-length"].flatMap { Int($0) } == self.bytes.count }

    init(_ received: [UInt8]) {
        let end = received.firstRange(of: Array("\r\n\r\n".utf8))
        let head = String(decoding: received[..<(end?.lowerBound ?? received.endIndex)], as: UTF8.self)
        let lines = head.split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        self.status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        self.fields = fields
        self.bytes = end.map { Array(received[$0.upperBound...]) } ?? []
    }
}

/// One connection.
struct ConsolePeer: Sendable {
    private let channel: any Channel
    private let received: ReceivedBytes

    static func connect(
        _ address: ConsoleClient.Address,
        isSlow: Bool = false
    ) async throws -> ConsolePeer {
        let received = ReceivedBytes()
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: !isSlow)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ByteCollector(received))
                }
            }
        let channel =
            switch address {
            case .port(let port): try await bootstrap.connect(host: "127.0.0.1", port: port).get()
            case .socket(let path): try await bootstrap.connect(unixDomainSocketPath: path).get()
            }
        return ConsolePeer(channel: channel, received: received)
    }

    func send(_ text: String) async { try? await self.channel.writeAndFlush(ByteBuffer(string: text)) }

    /// Takes a piece of what has come, as a slow reader.
    func readSome() { self.channel.read() }

    /// Takes everything from now on.
    func readAll() async throws { try await self.channel.setOption(.autoRead, value: true).get() }

    func close() async { try? await self.channel.close().get() }

    var isEnded: Bool { self.received.isEnded }

    /// The bytes that have come when the body finds something in them, or all at the end of the connection.
    func bytes(until isEnough: ([UInt8]) -> Bool) async -> [UInt8] {
        while !self.received.isEnded, !isEnough(self.received.bytes) {
            try? await Task.sleep(for: .milliseconds(5))
        }
        return self.received.bytes
    }

    func text(until isEnough: (String) -> Bool) async -> String {
        String(decoding: await self.bytes { isEnough(String(decoding: $0, as: UTF8.self)) }, as: UTF8.self)
    }
}

private final class ReceivedBytes: Sendable {
    private let state = Mutex((bytes: [UInt8](), isEnded: false))

    var bytes: [UInt8] { self.state.withLock { $0.bytes } }
    var isEnded: Bool { self.state.withLock { $0.isEnded } }

    func append(_ buffer: ByteBuffer) { self.state.withLock { $0.bytes += buffer.readableBytesView } }
    func end() { self.state.withLock { $0.isEnded = true } }
}

private final class ByteCollector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let received: ReceivedBytes

    init(_ received: ReceivedBytes) { self.received = received }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.received.append(self.unwrapInboundIn(data))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) { self.received.end() }
}

extension Substring {
    /// A URL as an attribute has it, without its escapes.
    var unescaped: String { self.replacingOccurrences(of: "&amp;", with: "&") }
}
