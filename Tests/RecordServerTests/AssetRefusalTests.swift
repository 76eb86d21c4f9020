import AssetStore
import Foundation
import NIOCore
import RecordModel
import RecordStore
import Synchronization
import TestSupport
import Testing
import WireProtocol

@testable import RecordServer

/// Uploads and downloads that are refused, break off, or break the protocol; everything else goes on.
@Suite(.timeLimit(.minutes(10)))
struct AssetRefusalTests {
    /// The failure of an upload that sent a frame, after which the connection still works.
    private func failure(
        of assets: [SampleAsset],
        sending frames: [Frame],
        fileFaults: FileFaults? = nil,
        configure: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> Failure? {
        var failure: Failure?
        try await ServerUnderTest.run(configure: configure, fileFaults: fileFaults) { server in
            let peer = try await server.signIn()
            var answer = try await peer.beginUpload(assets, on: 1)
            try await peer.send(frames)
            try await peer.transfer(on: 1, &answer)
            failure = answer.end?.failure
            // Bytes that were on their way are ignored, and others are served.
            try await peer.send(.assetData([1], offset: 0, on: 1))
            try await peer.send(.fetch(["0"]), on: 3)
            #expect(try await peer.answer(on: 3).items.count == 1)
            #expect(server.log.complaints.allSatisfy { $0.message != "connection closed" })
        }
        return failure
    }

    @Test func `bytes of another hash are refused and forgotten`() async throws {
        let sample = SampleAsset(bytes: 1_000)
        let other = [UInt8](repeating: 0, count: 1_000)
        let failure = try await self.failure(
            of: [SampleAsset(bytes: 5), sample],
            sending: [
                .assetData(SampleAsset(bytes: 5).contents, item: 0, offset: 0, on: 1),
                .assetData(other, item: 1, offset: 0, on: 1),
            ]
        )
        #expect(failure?.code == .assetFileModified)
        #expect(failure?.cause == .dependsOn(index: 1))
    }

    @Test func `an empty file of another hash is refused`() async throws {
        var sample = SampleAsset(bytes: 0)
        sample.asset.sha256[0] ^= 1
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            let answer = try await peer.upload([sample], on: 1)
            #expect(answer.end?.failure?.code == .assetFileModified)
        }
    }

    @Test(arguments: [(0, 5), (1, 0), (0, 1_000)] as [(UInt32, Int64)])
    func `bytes that are not those that come next are refused`(item: UInt32, offset: Int64) async throws {
        let failure = try await self.failure(
            of: [SampleAsset(bytes: 1_000, seed: 1), SampleAsset(bytes: 1_000, seed: 2)],
            sending: [.assetData([1, 2, 3], item: item, offset: offset, on: 1)]
        )
        #expect(failure?.code == .invalidArguments)
        #expect(failure?.cause == .dependsOn(index: 0))
    }

    @Test func `more bytes than the size are refused`() async throws {
        let sample = SampleAsset(bytes: 1_000)
        let failure = try await self.failure(
            of: [sample],
            sending: [.assetData([UInt8](repeating: 7, count: 1_001), offset: 0, on: 1)]
        )
        #expect(failure?.code == .invalidArguments)
    }

    @Test func `a disk that is full ends the upload, and nothing of it stays`() async throws {
        let isFull = Mutex(false)
        let faults: FileFaults = { step in
            guard case .write = step, isFull.withLock({ $0 }) else { return 0 }
            return ENOSPC
        }
        try await ServerUnderTest.run(fileFaults: faults) { server in
            let sample = SampleAsset(bytes: 400_000)
            let peer = try await server.signIn()
            var first = try await peer.beginUpload([sample], on: 1)
            try await peer.send([
                .assetData(sample.contents[..<200_000], offset: 0, on: 1), Frame(kind: .cancel, stream: 1),
            ])
            try await peer.transfer(on: 1, &first)
            var answer = try await peer.beginUpload([sample], on: 3)
            #expect(answer.offsets == [200_000])
            isFull.withLock { $0 = true }
            try await peer.send(.assetData(sample.contents[200_000..<300_000], offset: 200_000, on: 3))
            try await peer.transfer(on: 3, &answer)
            #expect(answer.end?.failure?.code == .serviceUnavailable)
            #expect(answer.end?.failure?.retry == .after(milliseconds: 5_000))
            #expect(answer.end?.failure?.cause == .dependsOn(index: 0))
            isFull.withLock { $0 = false }
            let again = try await peer.upload([sample], on: 5)
            #expect(again.offsets == [0])
            #expect(again.end == End())
            let files = try FileManager.default.subpathsOfDirectory(atPath: server.assetsPath)
            #expect(files.filter { $0.contains("/") }.count == 1)
        }
    }

    @Test func `a client that may send and does not is not waited for`() async throws {
        let began = ContinuousClock.now
        let failure = try await self.failure(
            of: [SampleAsset(bytes: 1_000)],
            sending: [],
            configure: { $0.assets.timeout = .milliseconds(300) }
        )
        #expect(failure?.code == .deadlineExceeded)
        #expect(ContinuousClock.now - began >= .milliseconds(300))
    }

    @Test func `a download that gets no credit is not waited for`() async throws {
        try await ServerUnderTest.run(configure: { $0.assets.timeout = .seconds(4) }) { server in
            try await server.fill(records: 0, bytes: 0)
            let sample = SampleAsset(bytes: 2_000_000)
            let peer = try await server.signIn(
                windows: Windows(connectionBytes: 65_536, streamBytes: 65_536)
            )
            #expect(try await peer.upload([sample], on: 1).end == End())
            try await peer.expectSaved("photo", naming: [sample], on: 3)
            try await peer.send(.download([AssetRange(sha256: sample.asset.sha256)], of: "photo"), on: 5)
            var bytes = 0
            while let frame = await peer.next() {
                if frame.kind == .assetData { bytes += frame.payload.readableBytes }
                guard frame.stream == 5, frame.kind == .end else { continue }
                #expect(try End(decoding: frame.payload).failure?.code == .deadlineExceeded)
                break
            }
            #expect(bytes <= 65_536 + Bounds.assetDataBytesMax)
            try await peer.send(.fetch(["photo"]), on: 7)
            #expect(try await peer.answer(on: 7).items.count == 1)
        }
    }

    @Test func `a cancel ends an upload, and another one goes on where it was`() async throws {
        try await ServerUnderTest.run { server in
            let sample = SampleAsset(bytes: 400_000)
            let peer = try await server.signIn()
            var answer = try await peer.beginUpload([sample], on: 1)
            try await peer.send([
                .assetData(sample.contents[..<200_000], offset: 0, on: 1),
                Frame(kind: .cancel, stream: 1),
            ])
            try await peer.transfer(on: 1, &answer)
            #expect(answer.end?.failure?.code == .operationCancelled)
            let rest = try await peer.upload([sample], on: 3)
            #expect(rest.offsets == [200_000] || rest.offsets == [0])
            #expect(rest.end == End())
        }
    }

    @Test func `a download ends when it is cancelled`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let sample = SampleAsset(bytes: 20_000_000)
            let peer = try await server.signIn()
            #expect(try await peer.upload([sample], on: 1, pieceBytes: 250_000).end == End())
            try await peer.expectSaved("photo", naming: [sample], on: 3)
            try await peer.send(.download([AssetRange(sha256: sample.asset.sha256)], of: "photo"), on: 5)
            try await peer.send(Frame(kind: .cancel, stream: 5))
            while let frame = await peer.next() {
                guard frame.stream == 5, frame.kind == .end else { continue }
                #expect(try End(decoding: frame.payload).failure?.code == .operationCancelled)
                break
            }
        }
    }

    @Test func `a silent upload makes room for another one of the same asset`() async throws {
        let sample = SampleAsset(bytes: 400_000)
        try await ServerUnderTest.run(configure: { $0.assets.contestedTimeout = .milliseconds(300) }) {
            server in
            let first = try await server.signIn()
            var answer = try await first.beginUpload([sample], on: 1)
            try await first.send(.assetData(sample.contents[..<200_000], offset: 0, on: 1))
            let second = try await server.signIn()
            let upload = try await second.upload([sample], on: 1)
            #expect(upload.offsets == [200_000])
            #expect(upload.end == End())
            try await first.transfer(on: 1, &answer)
            #expect(answer.end?.failure?.code == .requestRateLimited)
            let third = try await first.upload([sample], on: 3)
            #expect(third.offsets == [400_000])
        }
    }

    @Test func `an upload that waits for its turn hears so, and no deadline ends it`() async throws {
        try await ServerUnderTest.run(configure: {
            $0.assets.uploadsMax = 1
            $0.assets.lifeInterval = .milliseconds(20)
        }) { server in
            let peer = try await server.signIn()
            _ = try await peer.beginUpload([SampleAsset(bytes: 10, seed: 1)], on: 1)
            try await peer.send(.upload([SampleAsset(bytes: 10, seed: 2)]), on: 3, deadlineMilliseconds: 200)
            var answer = TransferAnswer()
            try await peer.transfer(on: 3, &answer) { $0.progress.count == 1 }
            server.clock.advance(milliseconds: 100_000)
            try await peer.transfer(on: 3, &answer) { $0.progress.count == 5 }
            #expect(Set(answer.progress) == [Progress(doneBytes: 0, totalBytes: 10)])
            #expect(answer.offsets == [] && answer.end == nil)
            try await peer.send(Frame(kind: .cancel, stream: 1))
            try await peer.transfer(on: 3, &answer) { !$0.credits.isEmpty }
            #expect(answer.offsets == [0])
        }
    }

    @Test func `while the server looks for the bytes of an upload it says how many it found`() async throws {
        let isSlow = Mutex(false)
        let faults: FileFaults = { step in
            if step == .open, isSlow.withLock({ $0 }) { usleep(500_000) }
            return 0
        }
        try await ServerUnderTest.run(
            configure: { $0.assets.lifeInterval = .milliseconds(20) },
            fileFaults: faults
        ) { server in
            let samples = [SampleAsset(bytes: 200_000, seed: 1), SampleAsset(bytes: 200_000, seed: 2)]
            let peer = try await server.signIn()
            var first = try await peer.beginUpload(samples, on: 1)
            try await peer.send([
                .assetData(samples[0].contents[..<100_000], offset: 0, on: 1),
                Frame(kind: .cancel, stream: 1),
            ])
            try await peer.transfer(on: 1, &first)
            isSlow.withLock { $0 = true }
            try await peer.send(.upload(samples), on: 3, deadlineMilliseconds: 200)
            var answer = TransferAnswer()
            try await peer.transfer(on: 3, &answer) { $0.progress.count == 5 }
            server.clock.advance(milliseconds: 100_000)
            try await peer.transfer(on: 3, &answer) { !$0.offsets.isEmpty }
            #expect(answer.offsets == [100_000, 0])
            #expect(answer.progress.map(\.doneBytes).last == 100_000)
            #expect(answer.progress.map(\.doneBytes) == answer.progress.map(\.doneBytes).sorted())
        }
    }

    @Test func `a client that takes the bytes of assets and gives no credit for answers is let go`()
        async throws
    {
        try await ServerUnderTest.run(configure: { $0.timeouts.slowReader = .seconds(2) }) { server in
            try await server.fill(records: 1, bytes: 500_000)
            let sample = SampleAsset(bytes: 30_000_000)
            let peer = try await server.signIn(
                windows: Windows(connectionBytes: 65_536, streamBytes: 8_000_000)
            )
            #expect(try await peer.upload([sample], on: 1, pieceBytes: 250_000).end == End())
            try await peer.expectSaved("photo", naming: [sample], on: 3)
            // The first answer takes the window, the second waits.
            for stream in [5, 7] as [UInt32] { try await peer.send(.fetch(["0"]), on: stream) }
            var stream: UInt32 = 9
            let range = AssetRange(sha256: sample.asset.sha256)
            try await peer.send(.download([range], of: "photo"), on: stream)
            let began = ContinuousClock.now
            var reason: CloseReason?
            var pieces = 0
            while reason == nil, ContinuousClock.now - began < .seconds(900), let frame = await peer.next() {
                switch frame.kind {
                case .assetData:
                    pieces += 1
                    // Every now and then the server's socket fills up, and opens again.
                    if pieces.isMultiple(of: 20) {
                        peer.channel.setOption(.autoRead, value: false).whenComplete { _ in }
                        try await Task.sleep(for: .milliseconds(100))
                        peer.channel.setOption(.autoRead, value: true).whenComplete { _ in }
                    }
                    try? await peer.send(.credit(UInt32(frame.payload.readableBytes), on: frame.stream))
                case .end where frame.stream == stream:
                    stream += 2
                    try? await peer.send(.download([range], of: "photo"), on: stream)
                case .goaway: reason = try GoAway(decoding: frame.payload).reason
                default: break
                }
            }
            #expect(reason == .slowReader)
        }
    }

    @Test func `a drain ends transfers, which go on elsewhere`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            _ = try await peer.beginUpload([SampleAsset(bytes: 10)], on: 1)
            async let stopped: Void = server.server.shutdown(grace: .seconds(20))
            let rest = await peer.rest()
            await stopped
            #expect(rest.map(\.kind) == [.goaway, .end])
            let end = try End(decoding: try #require(rest.last).payload)
            #expect(end.failure?.code == .serviceUnavailable)
            #expect(end.failure?.retry == .now)
        }
    }

    @Test func `the store's refusals name the asset`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 1, bytes: 10)
            let peer = try await server.signIn()
            let range = AssetRange(sha256: [UInt8](repeating: 1, count: 32))
            #expect(
                try await peer.download([range], of: "absent", on: 1).end?.failure?.code == .unknownItem
            )
            let failure = try await peer.download([range], of: "0", on: 3).end?.failure
            #expect(failure?.code == .assetNotAvailable)
            #expect(failure?.cause == .dependsOn(index: 0))
            try await peer.send(.upload([SampleAsset(bytes: 1)], scope: .shared), on: 5)
            #expect(try await peer.answer(on: 5).end.failure?.code == .invalidArguments)
            let elsewhere = ZoneID(zoneName: "Zone", ownerName: "_ffffffffffffffffffffffffffffffff")
            let shared = UploadAssets(scope: .shared, assets: [SampleAsset(bytes: 1).asset], zone: elsewhere)
            try await peer.send(.uploadAssets(shared), on: 7)
            #expect(try await peer.answer(on: 7).end.failure?.code == .zoneNotFound)
            let stranger = try await server.signIn(token: "")
            try await stranger.send(.upload([SampleAsset(bytes: 1)], scope: .public), on: 1)
            #expect(try await stranger.answer(on: 1).end.failure?.code == .notAuthenticated)
        }
    }

    // MARK: - Violations

    private func expectViolation(
        _ reason: CloseReason,
        _ body: (TestPeer) async throws -> Void
    ) async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 1, bytes: 10)
            let other = try await server.signIn()
            let peer = try await server.signIn()
            try await body(peer)
            let goaway = await peer.rest().last { $0.kind == .goaway }
            #expect(try GoAway(decoding: try #require(goaway).payload).reason == reason)
            #expect(server.log.complaints.map(\.message) == ["connection closed"])
            try await other.send(.fetch(["0"]), on: 1)
            #expect(try await other.answer(on: 1).items.count == 1)
        }
    }

    @Test func `bytes before the grant are a violation`() async throws {
        let sample = SampleAsset(bytes: 10)
        try await self.expectViolation(.creditExceeded) { peer in
            try await peer.send([
                .request(.upload([sample]), on: 1), .assetData(sample.contents, offset: 0, on: 1),
            ])
        }
    }

    @Test func `bytes beyond the window are a violation`() async throws {
        let sample = SampleAsset(bytes: 9_000_000)
        try await self.expectViolation(.creditExceeded) { peer in
            _ = try await peer.beginUpload([sample], on: 1)
            let frames = stride(from: 0, to: 9_000_000, by: 250_000).map {
                Frame.assetData(sample.contents[$0..<$0 + 250_000], offset: Int64($0), on: 1)
            }
            // The server may be through with us before we are.
            try? await peer.send(frames)
        }
    }

    @Test func `bytes on a stream that is no upload are a violation`() async throws {
        try await self.expectViolation(.frameKindUnexpected) { peer in
            // The download can't end: it has more bytes than the stream's window.
            let sample = SampleAsset(bytes: 2_000_000)
            #expect(try await peer.upload([sample], on: 1).end == End())
            try await peer.expectSaved("photo", naming: [sample], on: 3)
            let download = Operation.download([AssetRange(sha256: sample.asset.sha256)], of: "photo")
            try await peer.send([.request(download, on: 5), .assetData([1], offset: 0, on: 5)])
        }
    }

    @Test func `bytes on a stream that was never opened are a violation`() async throws {
        try await self.expectViolation(.streamInvalid) { peer in
            try await peer.send(.assetData([1], offset: 0, on: 1))
        }
    }

    @Test func `bytes on a stream that has ended are a violation once its window is used up`() async throws {
        try await self.expectViolation(.creditExceeded) { peer in
            _ = try await peer.upload([SampleAsset(bytes: 10)], on: 1)
            let frame = Frame.assetData([UInt8](repeating: 0, count: 200_000), offset: 0, on: 1)
            try? await peer.send([frame, frame, frame, frame])
        }
    }

    @Test(arguments: [0, 12, Bounds.assetDataBytesMax + 13])
    func `a payload that is no piece of an asset is a violation`(bytes: Int) async throws {
        try await self.expectViolation(.messageMalformed) { peer in
            _ = try await peer.beginUpload([SampleAsset(bytes: 10)], on: 1)
            let payload = ByteBuffer(repeating: 0, count: bytes)
            try await peer.send(Frame(kind: .assetData, stream: 1, payload: payload))
        }
    }
}
