import AssetStore
import Foundation
import RecordModel
import RecordStore
import Synchronization
import TestSupport
import Testing
import WireProtocol

@testable import RecordServer

/// What becomes of assets that nobody names, and of uploads that nobody goes on with.
@Suite(.timeLimit(.minutes(10)))
struct AssetSweepTests {
    private static let dayMilliseconds: Int64 = 86_400_000

    private static func files(_ server: ServerUnderTest) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: server.assetsPath).filter { $0.contains("/") }
    }

    @Test func `a thousand uploads that break off half-way leave nothing behind`() async throws {
        try await ServerUnderTest.run(configure: { $0.assets.sweepInterval = .seconds(3_600) }) { server in
            for round in 0..<10 {
                let peer = try await server.signIn()
                for number in 0..<100 {
                    let sample = SampleAsset(bytes: 200_000, seed: UInt64(100 * round + number))
                    let stream = UInt32(2 * number + 1)
                    var answer = try await peer.beginUpload([sample], on: stream)
                    try await peer.send(.assetData(sample.contents[..<100_000], offset: 0, on: stream))
                    guard !number.isMultiple(of: 2) else { continue }
                    try await peer.send(Frame(kind: .cancel, stream: stream))
                    try await peer.transfer(on: stream, &answer)
                }
                await peer.close()
            }
            await server.server.sweepAssets()
            #expect(try Self.files(server).count > 900)
            // The server may still be busy with the end of the last connections.
            try await Self.sweep(server, everyMilliseconds: Self.dayMilliseconds + 1) {
                try Self.files(server) == []
            }
            #expect(try Self.files(server) == [])
            let lines = server.log.complaints.map(\.message)
            #expect(Set(lines) == ["removed assets that no record names"])
        }
    }

    @Test func `no sweep touches an upload that is being received, or waits for its turn`() async throws {
        try await ServerUnderTest.run(configure: { $0.assets.uploadsMax = 1 }) { server in
            let samples = [SampleAsset(bytes: 400_000, seed: 1), SampleAsset(bytes: 400_000, seed: 2)]
            let peer = try await server.signIn()
            var answer = try await peer.beginUpload([samples[0]], on: 1)
            try await peer.send(.assetData(samples[0].contents[..<200_000], offset: 0, on: 1))
            try await peer.send(.upload([samples[1]]), on: 3)
            var waiting = TransferAnswer()
            try await peer.transfer(on: 3, &waiting) { !$0.progress.isEmpty }
            for _ in 0..<3 {
                server.clock.advance(milliseconds: 3 * Self.dayMilliseconds)
                await server.server.sweepAssets()
            }
            try await peer.send(.assetData(samples[0].contents[200_000...], offset: 200_000, on: 1))
            try await peer.transfer(on: 1, &answer)
            #expect(answer.end == End())
            try await peer.transfer(on: 3, &waiting) { !$0.credits.isEmpty }
            try await peer.send([
                .assetData(samples[1].contents[..<200_000], offset: 0, on: 3),
                .assetData(samples[1].contents[200_000...], offset: 200_000, on: 3),
            ])
            try await peer.transfer(on: 3, &waiting)
            #expect(waiting.end == End())
            #expect(try Self.files(server).count == 2)
            // Their owner's upload is not open any more: both go.
            try await Self.sweep(server, everyMilliseconds: Self.dayMilliseconds + 1) {
                try Self.files(server) == []
            }
        }
    }

    @Test func `an asset that a record names stays, and goes a day after the record`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let samples = [SampleAsset(bytes: 100, seed: 1), SampleAsset(bytes: 100, seed: 2)]
            let peer = try await server.signIn()
            #expect(try await peer.upload(samples, on: 1).end == End())
            try await peer.expectSaved("photo", naming: [samples[0]], on: 3)
            try await Self.sweep(server, everyMilliseconds: Self.dayMilliseconds + 1) {
                try Self.files(server).count == 1
            }
            let range = AssetRange(sha256: samples[0].asset.sha256)
            #expect(try await peer.download([range], of: "photo", on: 5).received[0] == samples[0].contents)
            try await peer.send(server.mutation(.save("other", naming: [samples[1]]), on: 7))
            let refused = try await peer.answer(on: 7)
            guard case .failure(let failure)? = refused.items.first?.outcome else {
                Issue.record("\(refused)")
                return
            }
            #expect(failure.code == .assetNotAvailable)
            let id = RecordID(zone: ServerUnderTest.zone, recordName: "photo")
            let delete = Operation.modifyRecords(ModifyRecords(scope: .private, saves: [], deletes: [id]))
            try await peer.send(server.mutation(delete, on: 9))
            _ = try await peer.answer(on: 9)
            await server.server.sweepAssets()
            #expect(try Self.files(server).count == 1)
            server.clock.advance(milliseconds: Self.dayMilliseconds + 1)
            await server.server.sweepAssets()
            #expect(try Self.files(server) == [])
            #expect(try await peer.upload([samples[0]], on: 11).offsets == [0])
        }
    }

    /// Sweeps until it shows: an upload is released a moment after its end is told, and has its
    /// grace time from then on.
    private static func sweep(
        _ server: ServerUnderTest,
        everyMilliseconds pause: Int64,
        until isDone: () throws -> Bool
    ) async throws {
        for _ in 0..<60_000 {
            server.clock.advance(milliseconds: pause)
            await server.server.sweepAssets()
            if try isDone() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("no sweep did what was waited for")
    }

    @Test func `a sweep whose files can't be removed is made up for by the next`() async throws {
        let isFailing = Mutex(false)
        let failures = Mutex(0)
        try await ServerUnderTest.run(fileFaults: { step in
            guard step == .unlink, isFailing.withLock({ $0 }) else { return 0 }
            failures.withLock { $0 += 1 }
            return EIO
        }) { server in
            let peer = try await server.signIn()
            #expect(try await peer.upload([SampleAsset(bytes: 100)], on: 1).end == End())
            server.clock.advance(milliseconds: Self.dayMilliseconds + 1)
            isFailing.withLock { $0 = true }
            // The upload may be released after the clock has moved.
            try await Self.sweep(server, everyMilliseconds: Self.dayMilliseconds + 1) {
                failures.withLock { $0 } > 0
            }
            #expect(try Self.files(server).count == 1)
            #expect(try await peer.upload([SampleAsset(bytes: 100)], on: 3).offsets == [0])
            isFailing.withLock { $0 = false }
            await server.server.sweepAssets()
            #expect(try Self.files(server).count == 1)
            #expect(try await peer.upload([SampleAsset(bytes: 100)], on: 5).offsets == [100])
        }
    }
}

extension ServerUnderTest {
    /// A request with an ID of the clock's time.
    fileprivate func mutation(_ operation: RecordModel.Operation, on stream: UInt32) -> Frame {
        var generator = SystemRandomNumberGenerator()
        let id = RequestID(milliseconds: self.clock.milliseconds, using: &generator)
        return .request(operation, on: stream, requestID: id)
    }
}
