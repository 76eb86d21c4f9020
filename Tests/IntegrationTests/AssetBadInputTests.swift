import Crypto
import Foundation
import NIOCore
import RecordModel
import TestSupport
import Testing
import WireProtocol

/// Uploads that no client of ours makes, against the real executable.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct AssetBadInputTests {
    private static let container = "iCloud.bad"

    private static func run(_ body: (ServerProcess, String) async throws -> Void) async throws {
        let server = try ServerProcess()
        try await server.administer(["container", "create", self.container])
        let token = try await server.administer(["user", "add", "alice", "--container", self.container])
        try await server.start()
        try await body(server, token)
        #expect(await server.end(SIGTERM) == 0)
    }

    private static func signIn(_ server: ServerProcess, _ token: String) async throws -> RawPeer {
        let peer = try await RawPeer.connect(port: server.port, authorityFile: server.authorityPath)
        let hello = Hello(
            container: self.container,
            environment: .development,
            accessToken: token,
            client: "raw"
        )
        await peer.send(Frame(kind: .hello, payload: hello.encoded()))
        #expect(await peer.next()?.kind == .welcome)
        return peer
    }

    private static func upload(_ contents: [UInt8], size: Int64, on stream: UInt32) -> Frame {
        let asset = Asset(sha256: Array(SHA256.hash(data: contents)), size: size)
        let operation = Operation.uploadAssets(UploadAssets(scope: .private, assets: [asset]))
        let request = Request(requestID: nil, deadlineMilliseconds: 0, operation: operation)
        return Frame(kind: .request, stream: stream, payload: request.encoded())
    }

    private static func data(_ bytes: [UInt8], offset: Int64, on stream: UInt32) -> Frame {
        let data = AssetData(item: 0, offset: offset, bytes: ByteBuffer(bytes: bytes))
        return Frame(kind: .assetData, stream: stream, payload: data.encoded())
    }

    /// The next frame of a stream but progress and credit.
    private static func answer(_ peer: RawPeer, on stream: UInt32) async -> Frame? {
        while let frame = await peer.next() {
            if frame.stream == stream, frame.kind != .progress, frame.kind != .credit { return frame }
        }
        return nil
    }

    @Test func `a client that declares a kilobyte and sends a gigabyte ends its own connection alone`()
        async throws
    {
        try await Self.run { server, token in
            let other = try await Self.signIn(server, token)
            let peer = try await Self.signIn(server, token)
            let idleBytes = try server.residentBytes()
            let linesBefore = server.log().split(separator: "\n").count
            await peer.send(Self.upload([1], size: 1_024, on: 1))
            #expect(await Self.answer(peer, on: 1)?.kind == .assetOffsets)
            let piece = [UInt8](repeating: 1, count: Bounds.assetDataBytesMax)
            var offset: Int64 = 0
            while offset < 1 << 30, peer.channel.isActive {
                await peer.send(Self.data(piece, offset: offset, on: 1))
                offset += Int64(piece.count)
            }
            let end = try #require(await Self.answer(peer, on: 1))
            #expect(try End(decoding: end.payload).failure?.code == .invalidArguments)
            #expect(try await peer.closeReason() == .creditExceeded)
            #expect(try server.residentBytes() < idleBytes + 64 * 1_024 * 1_024)
            await eventually { server.log().split(separator: "\n").count == linesBefore + 1 }
            let assets = URL(fileURLWithPath: server.dataPath + "/assets")
            #expect(try FileManager.default.subpathsOfDirectory(atPath: assets.path) == [])
            let whole = Array("whole".utf8)
            await other.send(Self.upload(whole, size: 5, on: 1))
            #expect(await Self.answer(other, on: 1)?.kind == .assetOffsets)
            await other.send(Self.data(whole, offset: 0, on: 1))
            let done = try #require(await Self.answer(other, on: 1))
            #expect(try End(decoding: done.payload) == End())
            #expect(server.log().split(separator: "\n").count == linesBefore + 1)
        }
    }

    @Test func `an upload goes on after the server was killed, and verify finds what was spoilt`()
        async throws
    {
        try await Self.run { server, token in
            let contents = (0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
            let first = try await Self.signIn(server, token)
            await first.send(Self.upload(contents, size: 20_000_000, on: 1))
            #expect(await Self.answer(first, on: 1)?.kind == .assetOffsets)
            let durable = try await Self.sendAll(contents, from: 0, over: first, untilDurable: true)
            #expect(durable > 0)
            await server.end(SIGKILL)
            try await server.start()
            let second = try await Self.signIn(server, token)
            await second.send(Self.upload(contents, size: 20_000_000, on: 1))
            let offsets = try #require(await Self.answer(second, on: 1))
            let offset = try AssetOffsets(decoding: offsets.payload).offsets[0]
            #expect(offset >= durable)
            _ = try await Self.sendAll(contents, from: offset, over: second, untilDurable: false)
            let intact = try await server.administer(["assets", "verify"])
            #expect(intact == "1 assets, 20000000 bytes: 1 intact")
            try await Self.expectDamageFound(server)
        }
    }

    /// Sends the rest as credit comes; answers how much was told to be durable when it stops.
    private static func sendAll(
        _ contents: [UInt8],
        from first: Int64,
        over peer: RawPeer,
        untilDurable: Bool
    ) async throws -> Int64 {
        var offset = Int(first)
        var window = 0
        var done: Int64 = 0
        while let frame = await peer.next() {
            switch frame.kind {
            case .credit: window += Int(try Credit(decoding: frame.payload).bytes)
            case .progress: done = try Progress(decoding: frame.payload).doneBytes
            case .end:
                #expect(try End(decoding: frame.payload) == End())
                return done
            default: break
            }
            if untilDurable, done > 0 { return done }
            while window > 0, offset < contents.count {
                let piece = Array(contents[offset..<min(offset + 250_000, contents.count)])
                await peer.send(Self.data(piece, offset: Int64(offset), on: 1))
                offset += piece.count
                window -= piece.count + AssetData.headerBytes
            }
        }
        return done
    }

    private static func expectDamageFound(_ server: ServerProcess) async throws {
        let assets = server.dataPath + "/assets"
        let name = try #require(
            try FileManager.default.subpathsOfDirectory(atPath: assets).first { $0.contains("/") }
        )
        let file = try #require(FileHandle(forUpdatingAtPath: assets + "/" + name))
        try file.seek(toOffset: 10_000_000)
        try file.write(contentsOf: Data([0, 1, 2, 3, 4, 5]))
        try file.close()
        let damaged = try await ChildProcess.tidemark("assets", "verify", "--data", server.dataPath, "--json")
        #expect(damaged.exitCode == 65)
        #expect(damaged.output.contains("\"file\" : \"assets/\(name)\""))
        #expect(damaged.output.contains("has other bytes"))
        try FileManager.default.removeItem(atPath: assets + "/" + name)
        let missing = try await ChildProcess.tidemark("assets", "verify", "--data", server.dataPath)
        #expect(missing.exitCode == 65)
        #expect(missing.output.contains("missing"))
    }
}
