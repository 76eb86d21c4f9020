import CloudKit
import CloudKitTesting
import Foundation
import TestSupport
import Testing

/// Transfers that are cut off, and what they cost.
@Suite(.timeLimit(.minutes(10)))
struct AssetResumeTests {
    private static let chunk = 8 << 20
    /// What travels besides an asset's bytes: TLS, frames, handshakes, and what was on its way when
    /// a connection broke.
    private static let slack = 2 << 20

    @Test func `an upload and a download survive a cut at every boundary of a chunk and at random bytes`()
        async throws
    {
        var generator = SeededGenerator.fromEnvironment()
        let seed = generator.seed
        print("SEED=\(seed)")
        let size = 3 * Self.chunk + 12_345
        var cuts: [Int] = []
        for boundary in 1...3 { cuts += [boundary * Self.chunk, boundary * Self.chunk + 40_000] }
        for _ in 0..<4 { cuts.append(Int.random(in: 5_000..<size, using: &generator)) }
        let chosen = cuts
        try await Desk.run { desk in
            let files = try SampleFiles()
            let url = try files.make("f", bytes: size, seed: seed)
            let port = try #require(URL(string: desk.server.url)?.port)
            let up = CuttingProxy(cutting: .toServer, after: chosen)
            let uploader = try await desk.device("up", through: try await up.start(for: port))
            try await uploader.save(desk.record("a", ["file": CKAsset(fileURL: url)]))
            #expect(up.cutsLeft == 0 && up.counts.connections > chosen.count / 2)
            // Bytes that were not durable yet are sent again: of each cut less than a chunk.
            #expect(up.counts.toServer < size + chosen.count * (Self.chunk + Self.slack))
            let down = CuttingProxy(cutting: .toClient, after: chosen)
            let downloader = try await desk.device("down", through: try await down.start(for: port))
            let fetched = try await downloader.record(for: desk.id("a"))
            #expect(try fetched.file("file") == Data(contentsOf: url))
            #expect(down.cutsLeft == 0)
            // What has come is never asked for again, but for what was on its way.
            #expect(down.counts.toClient < size + chosen.count * Self.slack)
            try await up.stop()
            try await down.stop()
        }
    }

    @Test func `an upload and a download go on after the server has started again`() async throws {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let url = try files.make("f", bytes: 40 << 20)
            let record = desk.record("a", ["file": CKAsset(fileURL: url)])
            let moved = Collected<Double>()
            let save = CKModifyRecordsOperation(recordsToSave: [record])
            save.perRecordProgressBlock = { moved.append($1) }
            save.database = desk.database
            async let saved: Void = withCheckedContinuation { continuation in
                save.completionBlock = { continuation.resume() }
                save.start()
            }
            while !moved.values.contains(where: { $0 > 0 }) { try await Task.sleep(for: .milliseconds(2)) }
            try await desk.server.restart(grace: .zero)
            await saved
            #expect(moved.values.last == 1)
            let came = Collected<Double>()
            let fetch = CKFetchRecordsOperation(recordIDs: [desk.id("a")])
            fetch.perRecordProgressBlock = { came.append($1) }
            let contents = Collected<Data>()
            fetch.perRecordResultBlock = { _, result in
                if let data = try? result.get().file("file") { contents.append(data) }
            }
            fetch.database = desk.database
            async let fetched: Void = withCheckedContinuation { continuation in
                fetch.completionBlock = { continuation.resume() }
                fetch.start()
            }
            while came.values.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            try await desk.server.restart(grace: .zero)
            await fetched
            #expect(came.values.last == 1)
            #expect(contents.values == [try Data(contentsOf: url)])
        }
    }

    @Test func `small requests of the same connection go on beside an upload and a download`() async throws {
        try await Desk.run { desk in
            let files = try SampleFiles()
            try await desk.database.save(desk.record("a", ["file": files.asset("f", bytes: 48 << 20)]))
            let device = try await desk.device("other")
            async let fetched = device.record(for: desk.id("a"))
            async let saved = device.save(
                desk.record("b", ["file": files.asset("g", bytes: 48 << 20, seed: 2)])
            )
            var rounds = 0
            for number in 0..<20 {
                try await device.save(desk.record("small\(number)", ["title": "x"]))
                rounds += 1
            }
            #expect(rounds == 20)
            _ = try await (fetched, saved)
        }
    }
}
