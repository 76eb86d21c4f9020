import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// The programs that `Clients/README.md` shows, run against a server.
///
/// Each block of the guide stands here, indented.
@Suite(.timeLimit(.minutes(5)))
struct ClientGuideTests {
    @Test
    func `a container takes the connection that it is given, and says who is signed in`() async throws {
        do {
            var connection = CKServerConnection(url: "tidemark://records.example.org")
            connection.token = "the token that `tidemark user add` printed"
            connection.certificateAuthority = .file("/etc/tidemark/ca.pem")
            let container = CKContainer(identifier: "iCloud.org.example.notes", connection: connection)
            #expect(container.containerIdentifier == "iCloud.org.example.notes")
        }
        try await TestServer.run { server in
            let container = try await server.container(for: "alice")
            switch try await container.accountStatus() {
            case .available: print("signed in")
            case .noAccount: print("no token, or the server refuses it")
            default: print("the server takes no connections now")
            }
        }
    }

    @Test
    func `a conflict is resolved by saving the server's record`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            do {
                let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "first"))
                note["text"] = "Written on Linux"
                note["pages"] = 3
                try await database.save(note)
            }
            let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "first"))
            note["text"] = "Merged"
            do {
                try await database.save(note)
            } catch let error as CKError where error.code == .serverRecordChanged {
                guard let server = error.serverRecord else { throw error }
                server["text"] = note["text"]
                try await database.save(server)
            }
            let merged = try await database.record(for: note.recordID)
            #expect(merged["text"] == "Merged")
            #expect(merged["pages"] == 3)
        }
    }

    @Test
    func `a record is saved in a zone`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let zone = try await database.save(CKRecordZone(zoneName: "Notes"))
            let pageID = CKRecord.ID(recordName: "1", zoneID: zone.zoneID)
            let page = CKRecord(recordType: "Page", recordID: pageID)
            page["number"] = 1
            try await database.save(page)
            #expect(page.recordChangeTag != nil)
        }
    }

    @Test
    func `a batch is saved, and a query finds it`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let notes = (1...5).map { number in
                let note = CKRecord(recordType: "Note")
                note["pages"] = number
                return note
            }
            let old = [CKRecord.ID(recordName: "never there")]
            let (saveResults, deleteResults) = try await database.modifyRecords(saving: notes, deleting: old)
            for case (let id, .failure(let error)) in saveResults { print(id.recordName, error) }
            for case (let id, .failure(let error)) in deleteResults { print(id.recordName, error) }
            #expect(saveResults.count == 5)
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "pages > %d", 2))
            query.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
            var page = try await database.records(matching: query, resultsLimit: 100)
            while true {
                for (_, result) in page.matchResults {
                    let note = try result.get()
                    print(note["text"] ?? "")
                }
                guard let cursor = page.queryCursor else { break }
                page = try await database.records(continuingMatchFrom: cursor, resultsLimit: 100)
            }
            #expect(page.matchResults.count == 3)
        }
    }

    @Test
    func `changes of a zone are followed from a token`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let zoneID = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: zoneID))
            try await database.save(note)
            var token: CKServerChangeToken?
            var copy: [CKRecord.ID: CKRecord] = [:]
            var isComplete = false
            while !isComplete {
                let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
                for (id, result) in changes.modificationResultsByID {
                    copy[id] = try result.get().record
                }
                for deletion in changes.deletions { copy[deletion.recordID] = nil }
                token = changes.changeToken
                isComplete = !changes.moreComing
            }
            #expect(Array(copy.keys) == [note.recordID])
            #expect(token != nil)
        }
    }

    @Test
    func `a listener is notified of what another program changes`() async throws {
        try await TestServer.run { server in
            let container = try await server.container(for: "alice")
            let database = container.privateCloudDatabase
            let zoneID = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            let (lines, printed) = AsyncStream<String>.makeStream()
            let listening = Task {
                @Sendable func print(_ items: String...) { printed.yield(items.joined(separator: " ")) }
                try await database.save(CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "notes"))
                for await notification in container.notifications() {
                    guard let change = notification as? CKRecordZoneNotification else { continue }
                    print("Something changed in", change.recordZoneID?.zoneName ?? "a zone")
                }
            }
            let other = try await Self.otherDatabase(of: server)
            let saving = Task {
                while !Task.isCancelled {
                    try await other.save(CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: zoneID)))
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            #expect(await lines.first { _ in true } == "Something changed in Notes")
            saving.cancel()
            listening.cancel()
        }
    }

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
            let otherEngine = await second.start(try await Self.otherDatabase(of: server), from: nil)
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
    func `a file is saved and fetched`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try Data(repeating: 7, count: 1_000).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let photo = CKRecord(recordType: "Photo")
            photo["image"] = CKAsset(fileURL: file)
            try await database.save(photo)

            let fetched = try await database.record(for: photo.recordID)
            if let image = fetched["image"] as? CKAsset, let url = image.fileURL {
                print(try Data(contentsOf: url).count, "bytes")
            }
            #expect((fetched["image"] as? CKAsset)?.fileSize == 1_000)
        }
    }

    @Test
    func `a list is shared by its URL`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let container = try await server.container(for: "bob")
            let zone = try await database.save(CKRecordZone(zoneName: "Lists"))
            let list = CKRecord(recordType: "List", recordID: CKRecord.ID(zoneID: zone.zoneID))
            let share = CKShare(rootRecord: list)
            share.publicPermission = .readWrite
            let (results, _) = try await database.modifyRecords(saving: [list, share], deleting: [])
            _ = try results[share.recordID]?.get()
            guard let url = share.url else { return }
            let metadata = try await container.shareMetadata(for: url)
            try await container.accept(metadata)
            let shared = container.sharedCloudDatabase
            for zone in try await shared.allRecordZones() { print(zone.zoneID) }
            let sharedID = try #require(metadata.hierarchicalRootRecordID)
            #expect(try await shared.record(for: sharedID).recordType == "List")
        }
    }

    @Test
    func `a save is retried as the error advises`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            server.faults.add(.save(.next), .zoneBusy(retryAfter: 0.1))
            let note = CKRecord(recordType: "Note")
            try await save(note, in: database)
            #expect(note.recordChangeTag != nil)
        }
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
    }

    @Test
    func `each block of the guide is in this file`() throws {
        let file = URL(fileURLWithPath: #filePath)
        let root = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let guide = try String(contentsOf: root.appendingPathComponent("Clients/README.md"), encoding: .utf8)
        let blocks = Readme(text: guide).blocks(in: "swift")
        #expect(blocks.count >= 14)
        let text = try String(contentsOf: file, encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let program = lines.joined(separator: "\n")
        for block in blocks {
            let lines = block.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(program.contains(lines.joined(separator: "\n")), "\(block.text)")
        }
    }

    /// The database of the same user, over a connection of its own.
    private static func otherDatabase(of server: TestServer) async throws -> CKDatabase {
        var connection = try await server.connection(for: "alice")
        connection.cacheBytesMax += 1
        let identifier = TestServer.defaultContainerIdentifier
        return CKContainer(identifier: identifier, connection: connection).privateCloudDatabase
    }
}

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
