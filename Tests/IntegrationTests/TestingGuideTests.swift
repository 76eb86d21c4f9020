import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// The tests that `Clients/CloudKitTesting/README.md` shows, and that these are they.
@Suite(.timeLimit(.minutes(10)))
struct TestingGuideTests {
    @Test func `a note that was saved is found`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let note = CKRecord(recordType: "Note")
            note["title"] = "Milk"
            try await database.save(note)
            #expect(try await database.record(for: note.recordID)["title"] == "Milk")
        }
    }

    @Test func `a save outlives a busy zone and a connection that breaks`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            server.faults.add(.save(.next), .zoneBusy(retryAfter: 0.1))
            server.faults.add(.save(.second, by: "alice"), .dropConnectionAfterCommit)
            let note = CKRecord(recordType: "Note")
            do {
                try await database.save(note)
            } catch let error as CKError where error.code == .zoneBusy {
                try await Task.sleep(for: .seconds(error.retryAfterSeconds ?? 1))
                try await database.save(note)
            }
            #expect(server.faults.happened == 2)
            #expect(note.recordChangeTag != nil)
        }
    }

    @Test func `a record has the date of the server's clock`() async throws {
        try await TestServer.run { server in
            server.clock.stop(at: Date(timeIntervalSince1970: 1_800_000_000))
            let database = try await server.container(for: "alice").privateCloudDatabase
            let note = try await database.save(CKRecord(recordType: "Note"))
            #expect(note.modificationDate == Date(timeIntervalSince1970: 1_800_000_000))
            server.clock.advance(by: .seconds(60))
            try await database.save(note)
            #expect(note.modificationDate == Date(timeIntervalSince1970: 1_800_000_060))
        }
    }

    @Test func `a list is shared by e-mail, and its reader is let go`() async throws {
        try await TestServer.run { server in
            try await server.setContacts(emails: ["bob@example.org"], of: "bob")
            let alice = try await server.container(for: "alice")
            let bob = try await server.container(for: "bob")
            let zone = try await alice.privateCloudDatabase.save(CKRecordZone(zoneName: "lists"))
            let list = CKRecord(recordType: "List", recordID: CKRecord.ID(zoneID: zone.zoneID))
            let share = CKShare(rootRecord: list)
            share.addParticipant(try await alice.shareParticipant(forEmailAddress: "bob@example.org"))
            _ = try await alice.privateCloudDatabase.modifyRecords(saving: [list, share], deleting: [])
            let url = try #require(share.url)
            try await bob.accept(bob.shareMetadata(for: url))
            #expect(try await bob.sharedCloudDatabase.allRecordZones().count == 1)
            try await server.revoke("bob")
            await #expect(throws: CKError.self) { try await bob.sharedCloudDatabase.allRecordZones() }
        }
    }

    @Test func `the log says what the server saw`() async throws {
        try await TestServer.run { server in
            _ = try await server.container(for: "alice").accountStatus()
            #expect(server.log.contains("listening"), "\(server.log)")
        }
    }

    @Test func `each block of the guide is a test of this file`() throws {
        let file = URL(fileURLWithPath: #filePath)
        let guide = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Clients/CloudKitTesting/README.md")
        let tests = try String(contentsOf: file, encoding: .utf8)
        let parts = try String(contentsOf: guide, encoding: .utf8).components(separatedBy: "```swift\n")
        let blocks = try parts.dropFirst().map { try #require($0.components(separatedBy: "```").first) }
        #expect(blocks.count >= 5)
        for block in blocks {
            let lines = block.split(separator: "\n").map { $0.isEmpty ? "" : "    \($0)" }
            #expect(tests.contains(lines.joined(separator: "\n")), "\(block)")
        }
    }
}
