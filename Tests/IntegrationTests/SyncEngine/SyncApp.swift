import CloudKit
import CloudKitTesting
import Foundation
import Synchronization
import Testing

/// An app with an engine: texts by record, and all that it was told, as lines.
///
/// It resolves conflicts in favour of the longer text.
final class SyncApp: CKSyncEngineDelegate {
    struct Store: Sendable {
        var texts: [CKRecord.ID: String] = [:]
        var known: [CKRecord.ID: CKRecord] = [:]
        var state: CKSyncEngine.State.Serialization?
        var log: [String] = []
        /// Accounts, which differ from run to run.
        var accounts: [CKSyncEngine.Event.AccountChange.ChangeType] = []
        var states = 0
    }

    private let store: Mutex<Store>
    private let engine = Mutex<CKSyncEngine?>(nil)
    /// Called with each event before it is handled.
    let hears: @Sendable (CKSyncEngine.Event, CKSyncEngine) async -> Void
    /// Called before each batch is made.
    let isAsked: @Sendable (CKSyncEngine) -> Void
    let prioritized: [CKRecordZone.ID]
    let isAtomic: Bool

    init(
        _ store: Store = Store(),
        prioritized: [CKRecordZone.ID] = [],
        isAtomic: Bool = false,
        hears: @escaping @Sendable (CKSyncEngine.Event, CKSyncEngine) async -> Void = { _, _ in },
        isAsked: @escaping @Sendable (CKSyncEngine) -> Void = { _ in }
    ) {
        self.store = Mutex(store)
        self.prioritized = prioritized
        self.isAtomic = isAtomic
        self.isAsked = isAsked
        self.hears = hears
    }

    var kept: Store { self.store.withLock { $0 } }
    var texts: [String: String] {
        Dictionary(uniqueKeysWithValues: self.kept.texts.map { ($0.recordName, $1) })
    }

    /// The log since it was last taken, without accounts and states.
    func takeLog() -> [String] {
        self.store.withLock { store in
            defer { store.log = [] }
            return store.log
        }
    }

    /// Starts an engine that goes on from what was kept.
    @discardableResult
    func start(
        _ database: CKDatabase,
        automatically: Bool = false,
        subscriptionID: String? = nil,
        pausing: ClosedRange<Duration> = .milliseconds(5)...(.milliseconds(50))
    ) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: self.kept.state,
            delegate: self
        )
        configuration.automaticallySync = automatically
        configuration.subscriptionID = subscriptionID
        let engine = CKSyncEngine(configuration, pausing: pausing)
        self.engine.withLock { $0 = engine }
        return engine
    }

    func stop() { self.engine.withLock { $0 = nil } }

    func write(_ text: String, to id: CKRecord.ID) {
        self.store.withLock { $0.texts[id] = text }
        self.engine.withLock { $0 }?.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }

    func erase(_ id: CKRecord.ID) {
        self.store.withLock {
            $0.texts[id] = nil
            $0.known[id] = nil
        }
        self.engine.withLock { $0 }?.state.add(pendingRecordZoneChanges: [.deleteRecord(id)])
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        await self.hears(event, syncEngine)
        let again = self.store.withLock { store in
            switch event {
            case .stateUpdate, .accountChange: break
            default: store.log.append(event.description)
            }
            return store.handle(event)
        }
        if !again.isEmpty { syncEngine.state.add(pendingRecordZoneChanges: again) }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        self.isAsked(syncEngine)
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        let store = self.kept
        var batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            guard let text = store.texts[id] else { return nil }
            let record = store.known[id] ?? CKRecord(recordType: "Note", recordID: id)
            record["text"] = text
            return record
        }
        batch?.atomicByZone = self.isAtomic
        return batch
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        var options = context.options
        options.prioritizedZoneIDs = self.prioritized
        return options
    }
}

extension SyncApp.Store {
    /// - Returns: What is to be sent again.
    fileprivate mutating func handle(
        _ event: CKSyncEngine.Event
    ) -> [CKSyncEngine.PendingRecordZoneChange] {
        switch event {
        case .stateUpdate(let event):
            self.state = event.stateSerialization
            self.states += 1
        case .accountChange(let event): self.accounts.append(event.changeType)
        case .fetchedDatabaseChanges(let event):
            for zone in event.deletions.map(\.zoneID) {
                for id in self.texts.keys where id.zoneID == zone { self.texts[id] = nil }
            }
        case .fetchedRecordZoneChanges(let event):
            for modification in event.modifications { self.merge(modification.record) }
            for deletion in event.deletions {
                self.texts[deletion.recordID] = nil
                self.known[deletion.recordID] = nil
            }
        case .sentRecordZoneChanges(let event):
            for record in event.savedRecords { self.known[record.recordID] = record }
            return event.failedRecordSaves.compactMap { failed in
                guard let server = failed.error.serverRecord else { return nil }
                self.merge(server)
                return .saveRecord(failed.record.recordID)
            }
        default: break
        }
        return []
    }

    private mutating func merge(_ record: CKRecord) {
        let (here, there) = (self.texts[record.recordID] ?? "", record["text"] as? String ?? "")
        self.texts[record.recordID] = here.count > there.count ? here : there
        self.known[record.recordID] = record
    }
}

/// A server, and a database as a user has it.
struct SyncDesk {
    let server: TestServer
    let database: CKDatabase
    let zone = CKRecordZone(zoneName: "Z")

    static func run(
        _ options: TestServer.Options = .defaults,
        _ body: (SyncDesk) async throws -> Void
    ) async throws {
        try await TestServer.runOnChosenEngine(options) { server in
            let container = try await server.container(for: "alice")
            try await body(SyncDesk(server: server, database: container.privateCloudDatabase))
        }
    }

    func id(_ name: String, in zone: String = "Z") -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: zone))
    }

    /// An app whose engine has its zone on the server, and has told all of that.
    func app(_ app: SyncApp = SyncApp()) async throws -> (app: SyncApp, engine: CKSyncEngine) {
        let engine = app.start(self.database)
        engine.state.add(pendingDatabaseChanges: [.saveZone(self.zone)])
        try await engine.sendChanges()
        try await engine.fetchChanges()
        _ = app.takeLog()
        return (app, engine)
    }

    /// Saves a record as another device would.
    @discardableResult
    func save(_ text: String, to id: CKRecord.ID) async throws -> CKRecord {
        let record = (try? await self.database.record(for: id)) ?? CKRecord(recordType: "Note", recordID: id)
        record["text"] = text
        return try await self.database.save(record)
    }
}

/// Waits until something is so.
func eventually(
    _ location: SourceLocation = #_sourceLocation,
    _ isSo: () async throws -> Bool
) async rethrows {
    for _ in 0..<120_000 {
        if try await isSo() { return }
        try? await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("it never came about", sourceLocation: location)
}
