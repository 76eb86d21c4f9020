import CloudKit
import CloudKitTesting
import Foundation
import Synchronization
import Testing

/// Shares that sync engines send and fetch.
struct SharingSyncTests {
    /// An app that gives its engine records as they are, and keeps what it was told.
    private final class App: CKSyncEngineDelegate {
        struct Kept: Sendable {
            var outgoing: [CKRecord.ID: CKRecord] = [:]
            var sent: [CKRecord] = []
            var failures: [CKError.Code] = []
            var fetched: [CKRecord] = []
            var deletedZones: [CKRecordZone.ID] = []
        }

        private let store = Mutex(Kept())
        var kept: Kept { self.store.withLock { $0 } }

        func start(_ database: CKDatabase) -> CKSyncEngine {
            var configuration = CKSyncEngine.Configuration(
                database: database,
                stateSerialization: nil,
                delegate: self
            )
            configuration.automaticallySync = false
            return CKSyncEngine(configuration)
        }

        func send(_ records: [CKRecord], with engine: CKSyncEngine) async throws {
            self.store.withLock { store in for record in records { store.outgoing[record.recordID] = record }
            }
            engine.state.add(pendingRecordZoneChanges: records.map { .saveRecord($0.recordID) })
            try await engine.sendChanges()
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            self.store.withLock { kept in
                switch event {
                case .fetchedRecordZoneChanges(let event): kept.fetched += event.modifications.map(\.record)
                case .fetchedDatabaseChanges(let event):
                    kept.deletedZones += event.deletions.map(\.zoneID)
                case .sentRecordZoneChanges(let event):
                    kept.sent += event.savedRecords
                    kept.failures += event.failedRecordSaves.map(\.error.code)
                default: break
                }
            }
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext,
            syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            let changes = syncEngine.state.pendingRecordZoneChanges.filter {
                context.options.scope.contains($0)
            }
            return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
                self.kept.outgoing[id]
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an engine sends a share, and another's fetches it with what it covers until it is gone`()
        async throws
    {
        try await SharingScene.run { scene in
            let owner = App()
            let list = try await scene.alice.privateCloudDatabase.record(for: scene.id("list"))
            let share = CKShare(rootRecord: list)
            share.publicPermission = .readWrite
            let sending = owner.start(scene.alice.privateCloudDatabase)
            try await owner.send([list, share], with: sending)
            #expect(owner.kept.failures.isEmpty && owner.kept.sent.count == 2)
            let sent = try #require(owner.kept.sent.compactMap { $0 as? CKShare }.first)
            #expect(sent.url != nil && sent.participants.count == 1)

            let joined = try await scene.join(sent.url)
            let guest = App()
            let fetching = guest.start(scene.bob.sharedCloudDatabase)
            try await fetching.fetchChanges()
            let names = guest.kept.fetched.map(\.recordID.recordName)
            #expect(Set(names) == ["list", "note", share.recordID.recordName])
            let found = try #require(guest.kept.fetched.compactMap { $0 as? CKShare }.first)
            #expect(found.currentUserParticipant?.permission == .readWrite && found.url == sent.url)

            let root = CKRecord.ID(recordName: "list", zoneID: joined.recordID.zoneID)
            try await guest.send([scene.note("guest", below: root)], with: fetching)
            #expect(guest.kept.failures.isEmpty)
            try await sending.fetchChanges()
            #expect(owner.kept.fetched.map(\.recordID).contains(scene.id("guest")))

            try await scene.alice.privateCloudDatabase.deleteRecord(withID: share.recordID)
            try await fetching.fetchChanges()
            #expect(guest.kept.deletedZones == [joined.recordID.zoneID])
        }
    }
}
