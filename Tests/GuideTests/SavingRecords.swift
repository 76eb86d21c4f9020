import CloudKit
import CloudKitTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SavingRecords {
    @Test
    func `a conflict is resolved by saving the server's record`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            do {
                // <block> Save one record
                let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "first"))
                note["text"] = "Written on Linux"
                note["pages"] = 3
                try await database.save(note)
                // </block>
            }
            let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "first"))
            note["text"] = "Merged"
            // <block> Resolve a conflict
            do {
                try await database.save(note)
            } catch let error as CKError where error.code == .serverRecordChanged {
                guard let server = error.serverRecord else { throw error }
                server["text"] = note["text"]
                try await database.save(server)
            }
            // </block>
            let merged = try await database.record(for: note.recordID)
            #expect(merged["text"] == "Merged")
            #expect(merged["pages"] == 3)
        }
    }

    @Test
    func `the last writer wins field by field`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let saved = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "first"))
            saved["text"] = "Before"
            saved["pages"] = 3
            try await database.save(saved)
            let note = CKRecord(recordType: "Note", recordID: saved.recordID)
            note["text"] = "After"
            // <block> Resolve a conflict
            let (results, _) = try await database.modifyRecords(
                saving: [note],
                deleting: [],
                savePolicy: .changedKeys
            )
            _ = try results[note.recordID]?.get()
            // </block>
            let fetched = try await database.record(for: note.recordID)
            #expect(fetched["text"] == "After")
            #expect(fetched["pages"] == 3)
        }
    }

    @Test
    func `a record is saved in a zone`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            // <block> Use a zone
            let zone = try await database.save(CKRecordZone(zoneName: "Notes"))
            let pageID = CKRecord.ID(recordName: "1", zoneID: zone.zoneID)
            let page = CKRecord(recordType: "Page", recordID: pageID)
            page["number"] = 1
            try await database.save(page)
            // </block>
            #expect(page.recordChangeTag != nil)
        }
    }

    @Test
    func `a batch is saved, and its failures are found by item`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let notes = (1...5).map { _ in CKRecord(recordType: "Note") }
            let old = [CKRecord.ID(recordName: "never there")]
            // <block> Save and delete many records
            let (saveResults, deleteResults) = try await database.modifyRecords(saving: notes, deleting: old)
            for case (let id, .failure(let error)) in saveResults { print(id.recordName, error) }
            for case (let id, .failure(let error)) in deleteResults { print(id.recordName, error) }
            // </block>
            #expect(saveResults.count == 5)
            #expect(deleteResults.count == 1)
        }
    }
}
