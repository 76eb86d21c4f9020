import AssetStore
import Foundation
import Logging
import RecordModel
import RecordStore
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// Damaged records over TLS, and what the log says of them.
@Suite(.timeLimit(.minutes(10)))
struct DamageTests {
    private static let zone = ServerUnderTest.zone

    /// Replaces the body of a record by as many bytes that are no fields.
    private static func damage(
        _ name: String,
        in server: ServerUnderTest,
        set change: String = "body = X'FFFF'"
    ) async throws {
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            [
                "-c",
                """
                import os, sqlite3, sys
                connection = sqlite3.connect(sys.argv[1], timeout=30)
                connection.execute("UPDATE record SET " + sys.argv[3] + " WHERE name = ?", (sys.argv[2],))
                connection.commit()
                # Leaves what it wrote in the log: the pages of the file have checksums.
                os._exit(0)
                """,
                server.folder + "/tidemark.sqlite", name, change,
            ]
        )
        try #require(outcome.exitCode == 0, "\(outcome.errors)")
    }

    @Test func `one line of the log names a damaged record, and its request goes on`() async throws {
        let clock = ManualClock(milliseconds: 0)
        try await ServerUnderTest.run(faultClock: clock) { server in
            try await server.fill(records: 3, bytes: 10)
            try await Self.damage("1", in: server)
            let it = FeedTests.Conversation(try await server.signIn())
            let id = RecordID(zone: Self.zone, recordName: "1")
            let operations: [RecordModel.Operation] = [
                .fetchRecords(FetchRecords(scope: .private, ids: [id], desiredKeys: ["x"])),
                .fetchChanges(FetchChanges(scope: .private, zone: Self.zone, desiredKeys: ["x"])),
                .modifyRecords(
                    ModifyRecords(
                        scope: .private,
                        saves: [RecordSave(id: id, recordType: "Note", changes: .empty)],
                        policy: .allKeys
                    )
                ),
            ]
            for (count, operation) in operations.enumerated() {
                let (items, end) = try await it.ask(operation)
                #expect(end.failure == nil)
                clock.advance(milliseconds: 10_000)
                #expect(items.count == (count == 1 ? 3 : 1))
                let lines = server.log.lines.filter { $0.message == "a stored record is damaged" }
                #expect(lines.count == count + 1)
                let line = try #require(lines.last)
                #expect(line.level == .error)
                #expect(line.metadata["container"] == ServerUnderTest.container)
                #expect(line.metadata["scope"] == "private")
                #expect(line.metadata["zone"] == "Zone")
                #expect(line.metadata["record"] == "1")
                #expect(line.metadata["advice"]?.contains("tidemark records damaged") == true)
                guard count == 1 else { continue }
                var texts = SharedTexts()
                let readings = try items.map { item in
                    guard case .record(let message) = item.outcome else { throw UnexpectedFrame(frame: nil) }
                    let (record, contents) = try message.reading(&texts)
                    return record.id.recordName + (contents == nil ? "!" : "")
                }
                #expect(readings == ["0", "1!", "2"])
                #expect(!end.token.isEmpty)
            }
            let delete = ModifyRecords(scope: .private, saves: [], deletes: [id])
            let deleted = try await it.ask(.modifyRecords(delete))
            #expect(deleted.items.map(\.outcome) == [.deleted])
        }
    }

    @Test func `a client that reads damaged records in a loop leaves a line for each of them`() async throws {
        let clock = ManualClock(milliseconds: 0)
        try await ServerUnderTest.run(faultClock: clock) { server in
            try await server.fill(records: 3, bytes: 10)
            for name in ["0", "2"] { try await Self.damage(name, in: server) }
            let it = FeedTests.Conversation(try await server.signIn())
            let ids = (0..<3).map { RecordID(zone: Self.zone, recordName: "\($0)") }
            for _ in 0..<50 {
                _ = try await it.ask(
                    .fetchRecords(FetchRecords(scope: .private, ids: ids, desiredKeys: ["x"]))
                )
            }
            let lines = server.log.lines.filter { $0.message == "a stored record is damaged" }
            #expect(lines.map { $0.metadata["record"] } == ["0", "2"])
            clock.advance(milliseconds: 10_000)
            // The server looks every second of its own.
            await until { server.log.lines.contains(where: { $0.metadata["times"] == "100" }) }
            #expect(server.log.lines.last?.metadata["fault"] == "a stored record is damaged")
        }
    }

    /// Asks again and again for what fails, and expects one line of the log.
    private static func expectLine(
        _ text: String,
        of server: ServerUnderTest,
        _ clock: ManualClock,
        _ ask: (_ stream: UInt32) async throws -> Failure?
    ) async throws {
        for number in 0..<UInt32(20) { #expect(try await ask(101 + 2 * number) != nil) }
        #expect(server.log.lines.count { $0.message == text && $0.level == .error } == 1)
        clock.advance(milliseconds: 10_000)
        // The server looks every second of its own.
        await until { server.log.lines.contains(where: { $0.metadata["fault"] == text }) }
        #expect(server.log.lines.last { $0.metadata["fault"] == text }?.metadata["times"] == "20")
    }

    @Test func `requests that fail in a loop leave one line`() async throws {
        let clock = ManualClock(milliseconds: 0)
        try await ServerUnderTest.run(faultClock: clock) { server in
            try await server.fill(records: 1, bytes: 10)
            try await Self.damage("0", in: server, set: "type = 9999")
            let peer = try await server.signIn()
            try await Self.expectLine("a request failed", of: server, clock) { stream in
                try await peer.send(.fetch(["0"]), on: stream)
                return try await peer.answer(on: stream).end.failure
            }
        }
    }

    @Test func `files of assets that cannot be read or written leave one line`() async throws {
        let clock = ManualClock(milliseconds: 0)
        let isFull = Mutex(false)
        let faults: FileFaults = { step in
            guard case .write = step, isFull.withLock({ $0 }) else { return 0 }
            return ENOSPC
        }
        try await ServerUnderTest.run(faultClock: clock, fileFaults: faults) { server in
            try await server.fill(records: 0, bytes: 0)
            let sample = SampleAsset(bytes: 200_000)
            let peer = try await server.signIn()
            #expect(try await peer.upload([sample], on: 1).end == End())
            try await peer.expectSaved("photos", naming: [sample], on: 3)
            for path in try FileManager.default.subpathsOfDirectory(atPath: server.assetsPath)
            where path.contains("/") {
                try FileManager.default.removeItem(atPath: server.assetsPath + "/" + path)
            }
            let range = AssetRange(sha256: sample.asset.sha256)
            try await Self.expectLine("a file of an asset cannot be read", of: server, clock) { stream in
                try await peer.download([range], of: "photos", on: stream).end?.failure
            }
            isFull.withLock { $0 = true }
            let writer = try await server.signIn()
            try await Self.expectLine("a file of an asset cannot be written", of: server, clock) { stream in
                let other = SampleAsset(bytes: 100_000, seed: UInt64(stream))
                var answer = try await writer.beginUpload([other], on: stream)
                try await writer.send(.assetData(other.contents[...], offset: 0, on: stream))
                try await writer.transfer(on: stream, &answer)
                return answer.end?.failure
            }
        }
    }
}
