import CloudKit
import Foundation
import RecordModel
import Testing
import WireProtocol

/// The order of callbacks of requests with files, and of saved shares.
@Suite(.timeLimit(.minutes(10))) struct TransferOrderTests {
    private static let lost = ItemOutcome.failed(.assetNotAvailable)

    /// Lets the client upload its files, and returns its next request.
    private func upload(_ peer: ScriptedPeer) async throws -> ScriptedPeer.Call {
        try await peer.next().takeUpload()
        return try await peer.next()
    }

    @Test func `a save waits for its upload, and other results do not wait for a lost file`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let files = try SampleFiles()
            let records = [
                CKRecord.note("plain"), .note("file", file: try files.make("f", bytes: 8)), .note("late"),
            ]
            async let finished: Void = peer.finish(log.modify(records))
            let first = try await self.upload(peer)
            first.items((1, Self.lost), (0, .saved))
            first.items((2, .failed(.zoneBusy)))
            first.end()
            let second = try await self.upload(peer)
            second.items((0, .saved))
            second.end()
            await finished
            #expect(
                log.lines == [
                    "progress file 0.5", "progress plain 1.0", "save plain 0", "save late 23",
                    "progress file 0.5", "progress file 1.0", "save file 0", "end 0", "older 2",
                ]
            )
        }
    }

    @Test func `an atomic batch is sent again as a whole`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let files = try SampleFiles()
            let records = [CKRecord.note("plain"), .note("file", file: try files.make("f", bytes: 8))]
            let operation = log.modify(records)
            operation.isAtomic = true
            async let finished: Void = peer.finish(operation)
            let first = try await self.upload(peer)
            first.items(
                (0, .failed(.batchRequestFailed, cause: .atomicPeer(index: 1))),
                (1, Self.lost)
            )
            first.end()
            let second = try await self.upload(peer)
            second.items((0, .saved), (1, .saved))
            second.end()
            await finished
            #expect(
                log.lines == [
                    "progress file 0.5", "progress file 0.5", "progress plain 1.0", "save plain 0",
                    "progress file 1.0", "save file 0", "end 0", "older 0",
                ]
            )
        }
    }

    @Test func `a file is uploaded three times at most`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let files = try SampleFiles()
            let operation = log.modify([.note("file", file: try files.make("f", bytes: 8))])
            operation.perRecordProgressBlock = nil
            async let finished: Void = peer.finish(operation)
            for _ in 0..<3 {
                let call = try await self.upload(peer)
                call.items((0, Self.lost))
                call.end()
            }
            await finished
            #expect(log.lines == ["save file 15", "end 0", "older 2"])
        }
    }

    @Test func `a failure of the whole request comes after the failures that were kept`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let files = try SampleFiles()
            let record = CKRecord.note("file", file: try files.make("f", bytes: 8))
            async let finished: Void = peer.finish(log.modify([record]))
            let call = try await self.upload(peer)
            call.items((0, Self.lost))
            call.end(.failed(.permissionFailure))
            await finished
            #expect(log.lines == ["progress file 0.5", "save file 15", "end 10", "older 10"])
        }
    }

    @Test func `a file that can't be read fails its record, and the others are saved`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let files = try SampleFiles()
            let records = [CKRecord.note("file", file: files.url("missing")), .note("plain")]
            async let finished: Void = peer.finish(log.modify(records))
            let call = try await peer.next()
            call.items((0, .saved))
            call.end()
            await finished
            #expect(
                log.lines == ["save file 16", "progress plain 1.0", "save plain 0", "end 0", "older 2"]
            )
            // Nothing is left to send.
            let alone = Transcript()
            await peer.finish(alone.modify([.note("file", file: files.url("missing"))]))
            #expect(alone.lines == ["save file 16", "end 0", "older 2"])
        }
    }

    /// The downloads of records, by their names.
    private func downloads(_ count: Int, _ peer: ScriptedPeer) async throws -> [String: ScriptedPeer.Call] {
        var calls: [String: ScriptedPeer.Call] = [:]
        for _ in 0..<count {
            let call = try await peer.next()
            guard case .downloadAssets(let download) = call.operation else { continue }
            calls[download.record.recordName] = call
        }
        return calls
    }

    @Test func `a result waits for its files, and later results wait for it`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            async let finished: Void = peer.finish(log.fetch("early", "a", "b", "c", "d"))
            let call = try await peer.next()
            call.items((0, .record("early")), (1, .record("a", file: [1])), (2, .record("b")))
            call.items((4, .record("d", file: [4])), (3, .record("c", file: [3])))
            call.end()
            let downloads = try await self.downloads(3, peer)
            downloads["d"]?.file([4])
            downloads["c"]?.end(.failed(.permissionFailure))
            downloads["a"]?.file([1])
            await finished
            #expect(
                log.lines == [
                    "progress early 1.0", "fetch early 0", "progress a 1.0", "fetch a 0", "progress b 1.0",
                    "fetch b 0", "progress d 1.0", "fetch d 0", "fetch c 10", "end 0", "older 2",
                ]
            )
        }
    }

    @Test func `the fifth download waits for one of four`() async throws {
        try await ScriptedPeer.run { peer in
            let database = peer.database
            let names = ["a", "b", "c", "d", "e"]
            async let results = database.records(for: names.map { CKRecord.ID(recordName: $0) })
            let call = try await peer.next()
            for (index, name) in names.enumerated() {
                call.items((UInt32(index), .record(name, file: Array(name.utf8))))
            }
            call.end()
            let first = try await self.downloads(4, peer)
            #expect(Set(first.keys) == ["a", "b", "c", "d"])
            first["d"]?.file(Array("d".utf8))
            try await self.downloads(1, peer)["e"]?.file(Array("e".utf8))
            for name in ["a", "b", "c"] { first[name]?.file(Array(name.utf8)) }
            for (id, result) in try await results {
                #expect(try result.get().file("file") == Data(id.recordName.utf8))
            }
        }
    }

    @Test func `files come before a failure of the whole request`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            async let finished: Void = peer.finish(log.fetch("a", "b"))
            let call = try await peer.next()
            call.items((0, .record("a", file: [1])))
            call.end(.failed(.permissionFailure))
            try await self.downloads(1, peer)["a"]?.file([1])
            await finished
            #expect(log.lines == ["progress a 1.0", "fetch a 0", "end 10", "older 10"])
        }
    }

    @Test func `a saved share is fetched again before its result, and later results wait`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let root = CKRecord.note("root")
            let share = CKShare(rootRecord: root, shareID: CKRecord.ID(recordName: "share"))
            async let finished: Void = peer.finish(log.modify([share, root]))
            let call = try await peer.next()
            call.items((1, .saved), (0, .saved))
            call.end()
            let refresh = try await peer.next()
            guard case .fetchRecords(let fetch) = refresh.operation else {
                Issue.record("\(refresh.operation)")
                return
            }
            #expect(fetch.ids.map(\.recordName) == ["share"])
            refresh.end()
            await finished
            #expect(
                log.lines == [
                    "progress root 1.0", "save root 0", "progress share 1.0", "save share 0", "end 0",
                    "older 0",
                ]
            )
        }
    }
}
