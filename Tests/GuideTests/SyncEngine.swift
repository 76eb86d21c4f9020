import CloudKit
import CloudKitTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SyncEngine {
    @Test
    func `two engines sync, and resolve a conflict`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let id = CKRecord.ID(recordName: "first", zoneID: NoteSync.zone.zoneID)
            let first = NoteSync()
            let engine = await first.start(database, from: nil)
            await first.write("Milk", named: "first")
            try await engine.sendChanges()

            let second = NoteSync()
            let otherEngine = await second.start(try await otherDatabase(of: server), from: nil)
            try await otherEngine.fetchChanges()
            #expect(await second.notes[id]?["text"] == "Milk")
            await second.write("Bread", named: "first")
            try await otherEngine.sendChanges()

            await first.write("Salt", named: "first")
            // Fails if the first engine has not fetched the second one's change yet.
            try? await engine.sendChanges()
            try await engine.sendChanges()
            #expect(try await database.record(for: id)["text"] == "Salt")
            #expect(await first.state != nil)
        }
    }

    @Test
    func `the state of an engine outlives the process`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let sync = NoteSync()
            let engine = await sync.start(database, from: nil)
            await sync.write("Milk", named: "first")
            try await engine.sendChanges()
            let state = try #require(await sync.state)
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: file) }
            // <block> Keep the state
            try JSONEncoder().encode(state).write(to: file, options: .atomic)
            // </block>
            // <block> Keep the state
            let data = try Data(contentsOf: file)
            let kept = try? JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
            // </block>
            #expect(kept != nil)
            let next = NoteSync()
            let nextEngine = await next.start(database, from: kept)
            #expect(nextEngine.state.pendingRecordZoneChanges.isEmpty)
            #expect(nextEngine.state.pendingDatabaseChanges.isEmpty)
        }
    }
}

// <block> Write the delegate
actor NoteSync: CKSyncEngineDelegate {
    static let zone = CKRecordZone(zoneName: "Notes")

    private(set) var notes: [CKRecord.ID: CKRecord] = [:]
    /// Store it with the notes, and pass it to `start` at the next launch.
    private(set) var state: CKSyncEngine.State.Serialization?
    private var engine: CKSyncEngine?

    func start(
        _ database: CKDatabase,
        from state: CKSyncEngine.State.Serialization?
    ) -> CKSyncEngine {
        let engine = CKSyncEngine(
            .init(database: database, stateSerialization: state, delegate: self)
        )
        if state == nil { engine.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)]) }
        self.engine = engine
        return engine
    }

    func write(_ text: String, named name: String) {
        let id = CKRecord.ID(recordName: name, zoneID: Self.zone.zoneID)
        let note = self.notes[id] ?? CKRecord(recordType: "Note", recordID: id)
        note["text"] = text
        self.notes[id] = note
        self.engine?.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let pending = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        let notes = self.notes
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { notes[$0] }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update): self.state = update.stateSerialization
        case .accountChange(let account):
            switch account.changeType {
            case .signIn: break
            case .signOut, .switchAccounts: self.notes = [:]
            }
        case .fetchedRecordZoneChanges(let changes):
            let pending = Set(syncEngine.state.pendingRecordZoneChanges)
            for record in changes.modifications.map(\.record) {
                let id = record.recordID
                // A local change that is still to be sent wins.
                if pending.contains(.saveRecord(id)) { record["text"] = self.notes[id]?["text"] }
                self.notes[id] = record
            }
            for deletion in changes.deletions { self.notes[deletion.recordID] = nil }
        case .sentRecordZoneChanges(let sent):
            for failure in sent.failedRecordSaves where failure.error.code == .serverRecordChanged {
                guard let server = failure.error.serverRecord else { continue }
                server["text"] = failure.record["text"]
                self.notes[server.recordID] = server
                syncEngine.state.add(pendingRecordZoneChanges: [.saveRecord(server.recordID)])
            }
        default: break
        }
    }
}
// </block>
