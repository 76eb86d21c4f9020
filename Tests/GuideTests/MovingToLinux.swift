import CloudKit
import CloudKitTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MovingToLinux {
    @Test
    func `an operation with blocks saves a note`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let note = CKRecord(recordType: "Note")
            let printed = PrintedLines()
            @Sendable func print(_ items: Any...) { printed.add(items) }
            // <block> Compile it
            let operation = CKModifyRecordsOperation(recordsToSave: [note], recordIDsToDelete: nil)
            operation.savePolicy = .changedKeys
            operation.perRecordSaveBlock = { id, result in
                if case .failure(let error) = result { print(id.recordName, error) }
            }
            operation.modifyRecordsResultBlock = { result in
                switch result {
                case .success: print("The request has ended")
                case .failure(let error): print("Nothing was saved:", error)
                }
            }
            database.add(operation)
            // </block>
            #expect(await printed.until("The request has ended") == ["The request has ended"])
            #expect(note.recordChangeTag != nil)
        }
    }

    @Test
    func `a stream brings what the app delegate gets`() async throws {
        try await TestServer.run { server in
            let container = try await server.container(for: "alice")
            let database = container.privateCloudDatabase
            let zoneID = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            try await database.save(CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "notes"))
            let (fetches, fetched) = AsyncStream<String?>.makeStream()
            let listening = Task {
                await listen(to: container) { fetched.yield($0.subscriptionID) }
            }
            let other = try await otherDatabase(of: server)
            let saving = Task {
                while !Task.isCancelled {
                    try await other.save(CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: zoneID)))
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            #expect(await fetches.first { _ in true } == "notes")
            saving.cancel()
            listening.cancel()
        }
    }
}

// <block> Receive notifications
#if os(Linux)
func listen(to container: CKContainer, _ fetchChanges: (CKNotification) async -> Void) async {
    for await notification in container.notifications() { await fetchChanges(notification) }
}
#endif
// </block>
