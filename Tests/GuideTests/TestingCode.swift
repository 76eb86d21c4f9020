import CloudKit
import CloudKitTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct TestingCode {
    // <block> Write a test
    @Test func `a note that was saved is found`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let note = CKRecord(recordType: "Note")
            note["title"] = "Milk"
            try await database.save(note)
            #expect(try await database.record(for: note.recordID)["title"] == "Milk")
        }
    }
    // </block>

    // <block> Break something
    @Test func `a lost response does not save a note twice`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            server.faults.add(.save(.next), .dropConnectionAfterCommit)
            try await database.save(CKRecord(recordType: "Note"))
            #expect(server.faults.happened == 1)
            let everything = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
            #expect(try await database.recordCount(matching: everything) == 1)
        }
    }
    // </block>

    // <block> Break something
    @Test func `a save waits for a server that starts again`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let note = try await database.save(CKRecord(recordType: "Note"))
            note["title"] = "Milk"
            async let saved = database.save(note)
            try await server.restart()
            #expect(try await saved["title"] == "Milk")
        }
    }
    // </block>
}
