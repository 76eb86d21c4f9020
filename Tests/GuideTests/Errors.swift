import CloudKit
import CloudKitTesting
import Testing

// <block> Retry as the error advises
func save(_ record: CKRecord, in database: CKDatabase) async throws {
    for attempt in 1... {
        do {
            try await database.save(record)
            return
        } catch let error as CKError where attempt < 5 {
            switch error.retryAdvice {
            case .now: continue
            case .after(let seconds): try await Task.sleep(for: .seconds(seconds))
            case .afterChange, .never: throw error
            }
        }
    }
}
// </block>

@Suite(.timeLimit(.minutes(10)))
struct Errors {
    @Test
    func `a save is retried as the error advises`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            server.faults.add(.save(.next), .zoneBusy(retryAfter: 0.1))
            let note = CKRecord(recordType: "Note")
            try await save(note, in: database)
            #expect(note.recordChangeTag != nil)
        }
    }

    @Test
    func `an atomic batch tells the item at fault from the others`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let zoneID = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            let notes = (1...3).map { number in
                CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "\(number)", zoneID: zoneID))
            }
            server.faults.add(.save(.next), .itemFailure(1, .permissionFailure))
            let printed = PrintedLines()
            func print(_ items: Any...) { printed.add(items) }
            // <block> Find the item at fault
            let (results, _) = try await database.modifyRecords(saving: notes, deleting: [])
            for case (let id, .failure(let error as CKError)) in results {
                guard error.code != .batchRequestFailed else { continue }
                print(id.recordName, error.localizedDescription)
            }
            // </block>
            #expect(results.count == 3)
            print("The end")
            #expect(await printed.until("The end").count == 2)
            let refused = try #require(results.first { $0.key.recordName == "2" }).value
            let error = #expect(throws: CKError.self) { try refused.get() }
            #expect(error?.code == .permissionFailure)
        }
    }
}
