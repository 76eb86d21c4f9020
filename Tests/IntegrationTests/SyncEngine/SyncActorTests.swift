import CloudKit
import CloudKitTesting
import Testing

/// Delegates that live on an actor.
///
/// This target is built with `NonisolatedNonsendingByDefault`, those
/// of `IsolationIdioms.swift` are built without it.
struct SyncActorTests {
    /// A model of the main actor that is the delegate itself.
    @MainActor
    private final class Model: CKSyncEngineDelegate {
        private(set) var titles: [String: String] = [:]
        private(set) var unsent: [String: String] = [:]

        func write(_ title: String, to name: String, _ engine: CKSyncEngine, in zone: CKRecordZone.ID) {
            self.unsent[name] = title
            engine.state.add(pendingRecordZoneChanges: [
                .saveRecord(CKRecord.ID(recordName: name, zoneID: zone))
            ])
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            MainActor.assertIsolated()
            switch event {
            case .fetchedRecordZoneChanges(let changes):
                for change in changes.modifications {
                    self.titles[change.record.recordID.recordName] = change.record["title"]
                }
            case .sentRecordZoneChanges(let sent):
                for record in sent.savedRecords { self.unsent[record.recordID.recordName] = nil }
            default: break
            }
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext,
            syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            MainActor.assertIsolated()
            let unsent = self.unsent
            return await .init(pendingChanges: syncEngine.state.pendingRecordZoneChanges) { id in
                guard let title = unsent[id.recordName] else { return nil }
                let record = CKRecord(recordType: "Note", recordID: id)
                record["title"] = title
                return record
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a class on the main actor is a delegate, and is called there`() async throws {
        try await Desk.run { desk in
            func engine(_ model: Model, _ database: CKDatabase) -> CKSyncEngine {
                var configuration = CKSyncEngine.Configuration(
                    database: database,
                    stateSerialization: nil,
                    delegate: model
                )
                configuration.automaticallySync = false
                return CKSyncEngine(configuration)
            }
            let (writer, reader) = (Model(), Model())
            let sending = engine(writer, desk.database)
            await writer.write("first", to: "note", sending, in: desk.zone)
            try await sending.sendChanges()
            #expect(await writer.unsent.isEmpty)
            let fetching = engine(reader, try await desk.device("reader"))
            try await fetching.fetchChanges()
            #expect(await reader.titles == ["note": "first"])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    @MainActor
    func `a save has what the record had when an actor called it`() async throws {
        try await Desk.run { desk in
            let note = desk.record("note", ["title": "saved"])
            // Starts here and now, and comes back at the first suspension.
            let saving = Task.immediate { try await desk.database.save(note) }
            note["title"] = "later"
            _ = try await saving.value
            #expect(note.changedKeys() == ["title"])
            let stored = try await desk.database.record(for: note.recordID)
            #expect(stored["title"] == "saved")
        }
    }
}
