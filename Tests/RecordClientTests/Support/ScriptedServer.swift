import FileIO
import NIOCore
import NIOEmbedded
import NIOTLS
import RecordModel
import Testing
import WireProtocol

@testable import RecordClient

/// A client on a loop whose time stands still, and the other ends of its connections.
final class ScriptedServer {
    private let loop: EmbeddedEventLoop
    private var client: RecordClient?
    private let accepted: NIOLoopBoundBox<[ScriptedConnection]>
    private let refusals: NIOLoopBoundBox<[ConnectionEnd]>

    init(
        files: FileThreads = .immediate,
        configure: (inout ClientConfiguration) -> Void = { _ in }
    ) {
        var configuration = ClientConfiguration(
            host: "db.example",
            container: "iCloud.example",
            accessToken: "secret"
        )
        configure(&configuration)
        let loop = EmbeddedEventLoop()
        let accepted = NIOLoopBoundBox<[ScriptedConnection]>([], eventLoop: loop)
        let refusals = NIOLoopBoundBox<[ConnectionEnd]>([], eventLoop: loop)
        self.loop = loop
        self.accepted = accepted
        self.refusals = refusals
        self.client = RecordClient(configuration: configuration, eventLoop: loop, files: files) {
            _,
            handler in
            if !refusals.value.isEmpty { return loop.makeFailedFuture(refusals.value.removeFirst()) }
            let connection = ScriptedConnection(EmbeddedChannel(handler: handler, loop: loop))
            accepted.value.append(connection)
            return connection.connect()
        }
    }

    /// Connections in the order in which the client made them, failed attempts left out.
    var connections: [ScriptedConnection] { self.accepted.value }

    /// The next attempts to connect fail so.
    func refuse(_ ends: ConnectionEnd...) { self.refuse(ends) }

    func refuse(_ ends: [ConnectionEnd]) {
        self.refusals.value += ends
    }

    var refusalsLeft: Int { self.refusals.value.count }

    /// Starts a request and lets the client take it.
    func start(
        _ operation: Operation,
        requestTimeout: Duration = .seconds(60),
        resourceTimeout: Duration = .seconds(600),
        connectionTimeout: Duration? = nil
    ) -> StartedRequest {
        let answer = Answer()
        let handle = self.client?.start(
            operation,
            requestTimeout: requestTimeout,
            resourceTimeout: resourceTimeout,
            connectionTimeout: connectionTimeout,
            items: { answer.received($0) },
            end: { answer.ended($0) }
        )
        self.tick()
        return StartedRequest(handle: handle, answer: answer)
    }

    /// Starts a transfer and lets the client take it.
    func start(
        _ bytes: Mailbox.Transfer.Bytes,
        of files: MemoryFiles,
        requestTimeout: Duration = .seconds(60),
        resourceTimeout: Duration = .seconds(600)
    ) -> StartedTransfer {
        let answer = Answer()
        let handle = self.client?.start(
            bytes,
            requestTimeout: requestTimeout,
            resourceTimeout: resourceTimeout,
            end: { answer.ended($0) }
        )
        self.tick()
        return StartedTransfer(handle: handle, answer: answer, files: files, server: self)
    }

    func upload(_ files: MemoryFiles, requestTimeout: Duration = .seconds(60)) -> StartedTransfer {
        let assets = files.bytes.enumerated().map { Asset.sample(UInt8($0.offset), size: $0.element.count) }
        return self.start(.upload(files.upload(assets)), of: files, requestTimeout: requestTimeout)
    }

    func download(_ ranges: Range<Int64>..., to files: MemoryFiles) -> StartedTransfer {
        let parts = ranges.enumerated().map { number, range in
            AssetDownload.Part(.sample(UInt8(number), size: Int(range.upperBound)), range)
        }
        return self.start(.download(files.download(parts)), of: files)
    }

    /// Starts to listen and hands it to the client; returns `nil` if the client was released before.
    func listen() -> StartedListening? {
        let heard = Heard()
        guard let handle = self.client?.listen({ heard.told($0) }) else { return nil }
        self.tick()
        return StartedListening(handle: handle, heard: heard, server: self)
    }

    func letGoOfClient() {
        self.client = nil
        self.tick()
    }

    /// Lets the loop do what it was asked to do by now.
    func tick() {
        self.loop.run()
    }

    /// Lets time pass.
    func pass(_ time: TimeAmount) {
        self.loop.advanceTime(by: time)
    }

    /// The newest connection, which must be the given one in order, past its handshake.
    func accept(
        _ number: Int = 1,
        limits: Limits = .defaults,
        windowBytes: UInt32 = 4 * 1024 * 1024
    ) throws -> ScriptedConnection {
        try #require(self.connections.count == number)
        let connection = self.connections[number - 1]
        try connection.welcome(limits: limits, windowBytes: windowBytes)
        return connection
    }
}

struct StartedRequest {
    /// `nil` if the client was released before.
    let handle: RequestHandle?
    let answer: Answer

    func cancel() {
        self.handle?.cancel()
    }
}
