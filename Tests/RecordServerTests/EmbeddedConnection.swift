import Logging
import NIOCore
import NIOEmbedded
import RecordModel
import StorageContract
import Testing
import Transport
import WireProtocol

@testable import RecordServer

/// A connection without a server behind it: its clock, its socket and its frames are the test's.
final class EmbeddedConnection {
    static let slowReaderTimeout = TimeAmount.seconds(30)

    /// Tells the connection about its channel, as `ConnectionHandler` does.
    private final class Opener: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let connection: Connection

        init(_ connection: Connection) { self.connection = connection }

        func handlerAdded(context: ChannelHandlerContext) { self.connection.opened(in: context) }
    }

    let channel = EmbeddedChannel()
    let accounts = Accounts(
        connectionsMax: 8,
        responseBytesMax: 64 * 1_024 * 1_024,
        unfinishedBytesMax: 1_024 * 1_024
    )
    let account: Account
    let connection: Connection

    /// A connection whose client is signed in.
    init(windows: Windows = .defaults) throws {
        guard case .serve(let account, _) = self.accounts.opened(from: "192.0.2.1") else {
            throw CancellationError()
        }
        self.account = account
        let eventLoop = self.channel.eventLoop
        self.connection = Connection(
            Connection.Arrival(
                number: 1,
                network: "192.0.2.1",
                account: account,
                isRefused: false,
                certificateHash: []
            ),
            shared: ConnectionShared(
                bounds: ConnectionBounds(inFlightMax: 8, receiveWindowBytes: 1_024 * 1_024),
                slowReaderTimeout: Self.slowReaderTimeout,
                faults: FaultLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }),
                metrics: ServerMetrics(),
                loops: ServedLoops(accounts: self.accounts),
                gate: nil
            ),
            loop: LoopContext(number: 0, eventLoop: eventLoop),
            eventLoop: eventLoop
        )
        try self.channel.pipeline.syncOperations.addHandler(Opener(self.connection))
        try self.channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
        let versions = [ProtocolVersion.current]
        _ = self.connection.machine.helloReceived(versions: versions, windows: windows)
        _ = self.connection.machine.signedIn()
    }

    /// A request whose stream the machine has opened.
    func open(_ stream: UInt32) -> Response {
        _ = self.connection.machine.requestReceived(stream, payloadBytes: 10)
        return Response(
            stream: stream,
            kind: .fetchZones,
            arrived: self.channel.eventLoop.now,
            request: .fetchZones(.all, Requester.nobody),
            deadlineMilliseconds: .max
        )
    }

    func grant(_ bytes: UInt32, on stream: UInt32) {
        let now = self.channel.eventLoop.now
        _ = self.connection.machine.creditReceived(stream, bytes: bytes, now: now)
    }

    /// Frames that the channel has got since the last look.
    func frames() throws -> [Frame] {
        let decoder = FrameDecoder(payloadBytesMax: 4 * 1_024 * 1_024)
        var frames: [Frame] = []
        while var bytes = try self.channel.readOutbound(as: ByteBuffer.self) {
            while let frame = try decoder.decode(buffer: &bytes) { frames.append(frame) }
        }
        return frames
    }

    func advance(by time: TimeAmount) { self.channel.embeddedEventLoop.advanceTime(by: time) }
}

extension Requester {
    fileprivate static let nobody = Requester(
        database: DatabaseID(rawValue: 1),
        scope: .public,
        environment: EnvironmentID(rawValue: 1),
        userRecordName: nil
    )
}
