import struct Foundation.URL
import Logging
import RecordModel
import RecordStore
import TestSupport
import Testing
import WireProtocol

/// Damaged records over TLS, and what the log says of them.
@Suite(.timeLimit(.minutes(5)))
struct DamageTests {
    private static let zone = ServerUnderTest.zone

    /// Replaces the body of a record by as many bytes that are no fields.
    private static func damage(_ name: String, in server: ServerUnderTest) async throws {
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            [
                "-c",
                """
                import sqlite3, sys
                connection = sqlite3.connect(sys.argv[1], timeout=30)
                connection.execute("UPDATE record SET body = X'FFFF' WHERE name = ?", (sys.argv[2],))
                connection.commit()
                """,
                server.folder + "/tidemark.sqlite", name,
            ]
        )
        try #require(outcome.exitCode == 0, "\(outcome.errors)")
    }

    @Test func `one line of the log names a damaged record, and its request goes on`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 3, bytes: 10)
            try await Self.damage("1", in: server)
            let it = FeedTests.Conversation(try await server.signIn())
            let id = RecordID(zone: Self.zone, recordName: "1")
            let operations: [Operation] = [
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
                let readings = try items.map { item in
                    guard case .record(let message) = item.outcome else { throw UnexpectedFrame(frame: nil) }
                    let (record, isDamaged) = try message.reading()
                    return record.id.recordName + (isDamaged ? "!" : "")
                }
                #expect(readings == ["0", "1!", "2"])
                #expect(!end.token.isEmpty)
            }
            let delete = ModifyRecords(scope: .private, saves: [], deletes: [id])
            let deleted = try await it.ask(.modifyRecords(delete))
            #expect(deleted.items.map(\.outcome) == [.deleted])
        }
    }
}
