import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import RecordModel
import ServerCertificates
import Synchronization
import TestSupport
import WireProtocol

/// Stands between clients and a server, with the TLS of each, and so sees their frames: it notes to
/// the byte what passes of assets, and lets pass as much as it is told to.
final class TransferTap: Sendable {
    enum Direction: Hashable, Sendable { case toServer, toClient }

    /// An upload or a download on one connection.
    struct Life: Hashable, Sendable {
        let direction: Direction
        let connection: Int
        let stream: UInt32
        /// The first byte that is asked for.
        let start: Int64
        /// The byte behind the last that passed.
        var end: Int64
        /// What the server has told to be durable.
        var toldBytes: Int64 = 0
        /// Bytes that did not follow those before them.
        var hasGap = false
    }

    /// Where transfers of one direction stand still.
    struct Stop: Sendable {
        var direction: Direction
        /// Bytes of an asset from this place on do not pass.
        var offset: Int64
        /// Nor does the end of a transfer.
        var holdsEnds = false
    }

    fileprivate struct Stream: Hashable {
        var connection: Int
        var stream: UInt32
    }

    fileprivate struct State {
        var connections = 0
        /// Connections of which both ends live, as far as the tap has seen.
        var open: Set<Int> = []
        var kinds: [Stream: Direction] = [:]
        var lives: [Life] = []
        var stop: Stop?
        var heldEnds = 0
        /// Saves of records that name assets wait.
        var holdsSaves = false
        var heldSaves = 0
        var wake: [@Sendable () -> Void] = []
        var channels: [any Channel] = []
    }

    private let state = Mutex(State())
    private let listening = Mutex<(any Channel)?>(nil)
    private let certificates: ServerCertificates

    init() throws { self.certificates = try ServerCertificates.make(hosts: []) }

    /// What clients of the tap trust, in PEM.
    var authorityPEM: String { self.certificates.authorityPEM }

    /// Transfers so far, in order.
    func lives(_ direction: Direction) -> [Life] {
        self.state.withLock { $0.lives.filter { $0.direction == direction } }
    }

    /// The numbers of the connections of which both ends live; what the others still hold never passes.
    var openConnections: Set<Int> { self.state.withLock { $0.open } }

    var heldEnds: Int { self.state.withLock { $0.heldEnds } }
    var heldSaves: Int { self.state.withLock { $0.heldSaves } }

    /// From now on transfers go as far as this, or to their end if `nil`.
    func stop(_ stop: Stop?) {
        self.change { $0.stop = stop }
    }

    func holdSaves(_ holds: Bool) {
        self.change { $0.holdsSaves = holds }
    }

    /// Ends all connections.
    func cut() {
        let channels = self.state.withLock { state in
            defer { state.channels = [] }
            return state.channels
        }
        for channel in channels { channel.close(promise: nil) }
    }

    private func change(_ body: (inout State) -> Void) {
        let wake = self.state.withLock { state in
            body(&state)
            return state.wake
        }
        for relay in wake { relay() }
    }

    /// Takes connections for a server on loopback; returns the port.
    func start(for port: Int, authorityPEM: String) async throws -> Int {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(self.certificates.chainPEM.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(self.certificates.keyPEM.utf8), format: .pem)
        var inward = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        inward.applicationProtocols = [ProtocolVersion.alpn]
        var outward = TLSConfiguration.makeClientConfiguration()
        outward.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authorityPEM.utf8)))
        outward.applicationProtocols = [ProtocolVersion.alpn]
        let (clientTLS, serverTLS) = (
            try NIOSSLContext(configuration: inward), try NIOSSLContext(configuration: outward)
        )
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                self.join(client, clientTLS, serverTLS, port: port)
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.listening.withLock { $0 = channel }
        return channel.localAddress?.port ?? 0
    }

    func end() async throws {
        self.cut()
        try await self.listening.withLock { $0.take() }?.close()
    }

    private func join(
        _ client: any Channel,
        _ clientTLS: NIOSSLContext,
        _ serverTLS: NIOSSLContext,
        port: Int
    ) -> EventLoopFuture<Void> {
        let number = self.state.withLock { state in
            state.connections += 1
            return state.connections
        }
        return ClientBootstrap(group: client.eventLoop)
            .channelInitializer { server in
                server.eventLoop.makeCompletedFuture {
                    try server.pipeline.syncOperations.addHandlers(
                        NIOSSLClientHandler(context: serverTLS, serverHostname: "localhost"),
                        ByteToMessageHandler(FrameDecoder(payloadBytesMax: 64 << 20)),
                        Relay(to: client, self, number, .toClient)
                    )
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .flatMapThrowing { server in
                try client.pipeline.syncOperations.addHandlers(
                    NIOSSLServerHandler(context: clientTLS),
                    ByteToMessageHandler(FrameDecoder(payloadBytesMax: 64 << 20)),
                    Relay(to: server, self, number, .toServer)
                )
                self.state.withLock { state in
                    state.open.insert(number)
                    state.channels += [client, server]
                }
            }
            .flatMap { client.setOption(.autoRead, value: true) }
    }

    // MARK: - What passes

    fileprivate enum Verdict {
        case pass
        /// So many bytes of an `asset_data`.
        case passBytes(Int)
        case hold
    }

    fileprivate func judge(_ frame: Frame, _ direction: Direction, _ connection: Int) throws -> Verdict {
        let place = Stream(connection: connection, stream: frame.stream)
        return try self.state.withLock { state in
            switch frame.kind {
            case .request where direction == .toServer:
                return try state.requested(frame, place)
            case .assetOffsets:
                let offset = try AssetOffsets(decoding: frame.payload).offsets.first ?? 0
                state.began(.toServer, place, at: offset)
            case .progress:
                let done = try Progress(decoding: frame.payload).doneBytes
                state.change(place) { $0.toldBytes = max($0.toldBytes, done) }
            case .assetData:
                return state.moved(try AssetData(decoding: frame.payload), place)
            case .end where state.kinds[place] != nil:
                guard let stop = state.stop, stop.holdsEnds, state.kinds[place] == stop.direction else {
                    break
                }
                state.heldEnds += 1
                return .hold
            default: break
            }
            return .pass
        }
    }

    fileprivate func ended(_ connection: Int) {
        self.state.withLock { _ = $0.open.remove(connection) }
    }

    fileprivate func add(_ wake: @escaping @Sendable () -> Void) {
        self.state.withLock { $0.wake.append(wake) }
    }
}

extension TransferTap.State {
    fileprivate mutating func requested(
        _ frame: Frame,
        _ place: TransferTap.Stream
    ) throws -> TransferTap.Verdict {
        switch try Request(decoding: frame.payload).operation {
        case .uploadAssets: self.kinds[place] = .toServer
        case .downloadAssets(let download):
            self.kinds[place] = .toClient
            self.began(.toClient, place, at: download.ranges.first?.offset ?? 0)
        case .modifyRecords(let modify) where self.holdsSaves && !modify.saves.isEmpty:
            self.heldSaves += 1
            return .hold
        default: break
        }
        return .pass
    }

    fileprivate mutating func began(
        _ direction: TransferTap.Direction,
        _ place: TransferTap.Stream,
        at offset: Int64
    ) {
        self.lives.append(
            TransferTap.Life(
                direction: direction,
                connection: place.connection,
                stream: place.stream,
                start: offset,
                end: offset
            )
        )
    }

    fileprivate mutating func change(
        _ place: TransferTap.Stream,
        _ body: (inout TransferTap.Life) -> Void
    ) {
        let index = self.lives.lastIndex { $0.connection == place.connection && $0.stream == place.stream }
        if let index { body(&self.lives[index]) }
    }

    /// Only the first asset of a transfer is stopped and measured.
    fileprivate mutating func moved(_ data: AssetData, _ place: TransferTap.Stream) -> TransferTap.Verdict {
        guard data.item == 0 else { return .pass }
        var count = data.bytes.readableBytes
        if let stop = self.stop, stop.direction == self.kinds[place] {
            guard data.offset < stop.offset else { return .hold }
            count = min(count, Int(stop.offset - data.offset))
        }
        self.change(place) { life in
            if life.end != data.offset { life.hasGap = true }
            life.end = data.offset + Int64(count)
        }
        return count == data.bytes.readableBytes ? .pass : .passBytes(count)
    }
}

/// Passes frames on in one direction, as far as the tap lets them.
private final class Relay: ChannelInboundHandler {
    typealias InboundIn = Frame

    private let other: any Channel
    private let tap: TransferTap
    private let connection: Int
    private let direction: TransferTap.Direction
    private var waiting = CircularBuffer<Frame>()
    private var isOver = false

    init(
        to other: any Channel,
        _ tap: TransferTap,
        _ connection: Int,
        _ direction: TransferTap.Direction
    ) {
        self.other = other
        self.tap = tap
        self.connection = connection
        self.direction = direction
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let eventLoop = context.eventLoop
        let held = NIOLoopBound(self, eventLoop: eventLoop)
        self.tap.add { eventLoop.execute { held.value.pass() } }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.waiting.append(self.unwrapInboundIn(data))
        if self.waiting.count == 1 { self.pass() }
    }

    private func pass() {
        do {
            // What is held for the dead never passes.
            while let frame = self.waiting.first, !self.isOver, self.other.isActive {
                switch try self.tap.judge(frame, self.direction, self.connection) {
                case .hold: return
                case .pass:
                    self.waiting.removeFirst()
                    self.write(frame)
                case .passBytes(let count):
                    let data = try AssetData(decoding: frame.payload)
                    var (first, rest) = (data, data)
                    first.bytes =
                        data.bytes.getSlice(at: data.bytes.readerIndex, length: count) ?? ByteBuffer()
                    rest.bytes.moveReaderIndex(forwardBy: count)
                    rest.offset += Int64(count)
                    self.waiting[self.waiting.startIndex] = Frame(
                        kind: .assetData,
                        stream: frame.stream,
                        payload: rest.encoded()
                    )
                    self.write(Frame(kind: .assetData, stream: frame.stream, payload: first.encoded()))
                }
            }
        } catch {
            self.other.close(promise: nil)
        }
    }

    private func write(_ frame: Frame) {
        var bytes = ByteBuffer()
        FrameEncoder.write(frame, into: &bytes)
        self.other.writeAndFlush(bytes, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        let other = self.other
        self.isOver = true
        self.tap.ended(self.connection)
        // What was passed on before goes out first.
        other.writeAndFlush(ByteBuffer()).whenComplete { _ in other.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
