import CloudKit
import CloudKitTesting
import Testing

struct NoteTests {
    @Test
    func `a save that meets a busy zone can be repeated`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let note = CKRecord(recordType: "Note")
            server.faults.add(.save(.next), .zoneBusy(retryAfter: 0.2))
            await #expect(throws: CKError.self) { try await database.save(note) }
            try await database.save(note)
        }
    }
}
