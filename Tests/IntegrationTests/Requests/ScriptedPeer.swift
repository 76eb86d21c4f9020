import CloudKit
import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import RecordModel
import ServerCertificates
import TestSupport
import Testing
import WireProtocol

/// A server with responses that a test writes, frame by frame.
struct ScriptedPeer {
    let container: CKContainer
    private let calls: AsyncStream<Call>

    var database: CKDatabase { self.container.privateCloudDatabase }

    /// A request that waits for its response.
    struct Call: Sendable {
        let operation: RecordModel.Operation
        fileprivate let stream: UInt32
        fileprivate let channel: any Channel

        /// Sends the outcomes of some items, in one frame.
        func items(_ outcomes: (UInt32, ItemOutcome)...) {
            self.send(.items, Items(items: outcomes.map { Item(index: $0, outcome: $1) }).encoded())
        }

        /// Sends bytes as a frame of items.
        func items(encoded bytes: [UInt8]) { self.send(.items, ByteBuffer(bytes: bytes)) }

        /// Ends the response.
        func end(_ end: End = End()) { self.send(.end, end.encoded()) }

        /// Closes the connection of the request.
        func hangUp() { self.channel.close(promise: nil) }

        /// Lets the client upload all bytes; progress of a half and the end follow the last of them.
        func takeUpload() {
            guard case .uploadAssets(let upload) = self.operation else { return }
            let offsets = AssetOffsets(offsets: upload.assets.map { _ in 0 })
            self.send(.assetOffsets, offsets.encoded())
            self.send(.credit, Credit(bytes: 1 << 20).encoded())
        }

        /// Sends a file that was requested, and the end.
        func file(_ bytes: [UInt8]) {
            let data = AssetData(item: 0, offset: 0, bytes: ByteBuffer(bytes: bytes))
            self.send(.assetData, data.encoded())
            self.end()
        }

        private func send(_ kind: FrameKind, _ payload: ByteBuffer) {
            var bytes = ByteBuffer()
            FrameEncoder.write(Frame(kind: kind, stream: self.stream, payload: payload), into: &bytes)
            self.channel.writeAndFlush(bytes, promise: nil)
        }
    }

    /// Runs a test with a peer, and a client that trusts it.
    static func run(_ body: (ScriptedPeer) async throws -> Void) async throws {
        let folder = try TemporaryDirectory()
        let certificates = try ServerCertificates.make(hosts: [])
        let (calls, continuation) = AsyncStream<Call>.makeStream()
        let listening = try await self.listen(certificates, continuation)
        let port = listening.localAddress?.port ?? 0
        var connection = CKServerConnection(
            url: "tidemark://localhost:\(port)",
            token: "token",
            certificateAuthority: .pem(certificates.authorityPEM)
        )
        connection.cacheFolder = folder.path + "/cache"
        connection.ledgerFolder = folder.path + "/ledgers"
        let container = CKContainer(identifier: "iCloud.scripted", connection: connection)
        try await body(ScriptedPeer(container: container, calls: calls))
        await connection.close()
        try await listening.close()
    }

    private static func listen(
        _ certificates: ServerCertificates,
        _ calls: AsyncStream<Call>.Continuation
    ) async throws -> any Channel {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificates.chainPEM.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(certificates.keyPEM.utf8), format: .pem)
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        tls.applicationProtocols = [ProtocolVersion.alpn]
        let context = try NIOSSLContext(configuration: tls)
        return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context),
                        ByteToMessageHandler(FrameDecoder(payloadBytesMax: 1 << 22)),
                        PeerHandler(calls)
                    )
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// The next request of the client.
    func next() async throws -> Call {
        for await call in self.calls { return call }
        throw CancellationError()
    }
}

/// Welcomes clients, notes requests and ends complete uploads.
private final class PeerHandler: ChannelInboundHandler {
    typealias InboundIn = Frame
    typealias OutboundOut = ByteBuffer

    private let calls: AsyncStream<ScriptedPeer.Call>.Continuation
    /// The bytes of uploads, by stream.
    private var missing: [UInt32: (left: Int64, total: Int64)] = [:]

    init(_ calls: AsyncStream<ScriptedPeer.Call>.Continuation) { self.calls = calls }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = self.unwrapInboundIn(data)
        do { try self.received(frame, context) } catch {
            Issue.record("a frame can't be read: \(error)")
            context.close(promise: nil)
        }
    }

    private func received(_ frame: Frame, _ context: ChannelHandlerContext) throws {
        switch frame.kind {
        case .hello:
            let welcome = Welcome(
                version: 1,
                server: "scripted",
                userRecordName: "_user",
                serverTimeMilliseconds: 1_700_000_000_000,
                limits: .defaults,
                windows: .defaults
            )
            self.send(Frame(kind: .welcome, payload: welcome.encoded()), context)
        case .request:
            let operation = try Request(decoding: frame.payload).operation
            if case .uploadAssets(let upload) = operation {
                let total = upload.assets.reduce(0) { $0 + $1.size }
                self.missing[frame.stream] = (total, total)
            }
            self.calls.yield(
                ScriptedPeer.Call(operation: operation, stream: frame.stream, channel: context.channel)
            )
        case .assetData:
            let data = try AssetData(decoding: frame.payload)
            self.missing[frame.stream]?.left -= Int64(data.bytes.readableBytes)
            guard let upload = self.missing[frame.stream], upload.left == 0 else { return }
            let progress = Progress(doneBytes: upload.total / 2, totalBytes: upload.total).encoded()
            self.send(Frame(kind: .progress, stream: frame.stream, payload: progress), context)
            self.send(Frame(kind: .end, stream: frame.stream, payload: End().encoded()), context)
        default: break
        }
    }

    private func send(_ frame: Frame, _ context: ChannelHandlerContext) {
        var bytes = ByteBuffer()
        FrameEncoder.write(frame, into: &bytes)
        context.writeAndFlush(self.wrapOutboundOut(bytes), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

// MARK: - What a response says

extension ItemOutcome {
    private static let system = SystemFields(
        createdMilliseconds: 1,
        modifiedMilliseconds: 2,
        createdBy: "_user",
        modifiedBy: "_user"
    )

    static var saved: ItemOutcome { .recordSaved(RecordSaved(changeTag: "t1", system: self.system)) }

    static func failed(_ code: ErrorCode, cause: Failure.Cause = .culprit) -> ItemOutcome {
        .failure(Failure(code: code, message: "scripted", cause: cause, retry: .never))
    }

    /// A record of the default zone; `file` is the content of its asset.
    static func record(_ name: String, tag: String = "t1", file: [UInt8]? = nil) -> ItemOutcome {
        let fields = file.map { file in
            let asset = Asset(sha256: Array(SHA256.hash(data: file)), size: Int64(file.count))
            return [Field(name: "file", value: .asset(asset))]
        }
        return .record(
            RecordMessage(
                Record(
                    id: RecordID(zone: .default, recordName: name),
                    recordType: "Note",
                    changeTag: tag,
                    system: self.system,
                    body: RecordBody(fields ?? [])
                )
            )
        )
    }
}

extension End {
    static func failed(_ code: ErrorCode) -> End {
        End(failure: Failure(code: code, message: "scripted", retry: .never))
    }
}
