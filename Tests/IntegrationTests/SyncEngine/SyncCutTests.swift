import CloudKit
import CloudKitTesting
import Foundation
import RecordModel
import Synchronization
import Testing

/// Pending changes that need each other, and more of them than a request takes.
struct SyncCutTests {
    /// Sends what it has, in the order of the pending changes.
    private final class Sender: CKSyncEngineDelegate {
        struct Heard {
            var saved: [String] = []
            var failed: [String: CKError.Code] = [:]
            var deleted: [String] = []
            var asked = 0
        }

        private let records: [CKRecord.ID: CKRecord]
        private let isAtomic: Bool
        private let state = Mutex(Heard())
        var heard: Heard { self.state.withLock { $0 } }

        init(_ records: [CKRecord] = [], isAtomic: Bool = false) {
            self.records = Dictionary(uniqueKeysWithValues: records.map { ($0.recordID, $0) })
            self.isAtomic = isAtomic
        }

        func start(_ database: CKDatabase) -> CKSyncEngine {
            var configuration = CKSyncEngine.Configuration(
                database: database,
                stateSerialization: nil,
                delegate: self
            )
            configuration.automaticallySync = false
            return CKSyncEngine(configuration)
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            guard case .sentRecordZoneChanges(let sent) = event else { return }
            self.state.withLock { heard in
                heard.saved += sent.savedRecords.map(\.recordID.recordName)
                heard.deleted += sent.deletedRecordIDs.map(\.recordName)
                for failed in sent.failedRecordSaves {
                    heard.failed[failed.record.recordID.recordName] = failed.error.code
                }
                for (id, error) in sent.failedRecordDeletes { heard.failed[id.recordName] = error.code }
            }
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext,
            syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            self.state.withLock { $0.asked += 1 }
            let pending = syncEngine.state.pendingRecordZoneChanges
            var batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { self.records[$0] }
            batch?.atomicByZone = self.isAtomic
            return batch
        }
    }

    private static func save(_ records: [CKRecord]) -> [CKSyncEngine.PendingRecordZoneChange] {
        records.map { .saveRecord($0.recordID) }
    }

    private static func names(_ desk: SyncDesk) async throws -> Set<String> {
        let changes = try await desk.database.recordZoneChanges(inZoneWith: desk.zone.zoneID, since: nil)
        return Set(changes.modificationResultsByID.keys.map(\.recordName))
    }

    @Test(.timeLimit(.minutes(10)), arguments: [false, true])
    func `children of a parent that is pending behind them are saved, whatever the size`(
        isAtomic: Bool
    ) async throws {
        try await SyncDesk.run { desk in
            try await desk.database.save(desk.zone)
            let trip = CKRecord(recordType: "Trip", recordID: desk.id("trip"))
            let stops = (0..<5).map { number in
                let stop = CKRecord(recordType: "Stop", recordID: desk.id("stop\(number)"))
                stop["map"] = Data(count: 900_000)
                if number == 0 {
                    stop["trip"] = CKRecord.Reference(recordID: trip.recordID, action: .deleteSelf)
                } else {
                    stop.setParent(trip)
                }
                return stop
            }
            let sender = Sender(stops + [trip], isAtomic: isAtomic)
            let engine = sender.start(desk.database)
            engine.state.add(pendingRecordZoneChanges: Self.save(stops + [trip]))
            try await engine.sendChanges()
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(sender.heard.failed.isEmpty)
            #expect(sender.heard.saved.sorted() == ["stop0", "stop1", "stop2", "stop3", "stop4", "trip"])
            #expect(try await Self.names(desk).count == 6)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a tree that takes many requests is saved and deleted in any order`() async throws {
        var options = TestServer.Options()
        options.bounds.requestItemsMax = 5
        try await SyncDesk.run(options) { desk in
            try await desk.database.save(desk.zone)
            // A chain, the last one at the top.
            let records = (0..<24).map { CKRecord(recordType: "Note", recordID: desk.id("n\($0)")) }
            for (child, parent) in zip(records, records.dropFirst()) { child.setParent(parent) }
            let sender = Sender(records)
            let engine = sender.start(desk.database)
            engine.state.add(pendingRecordZoneChanges: Self.save(records))
            try await engine.sendChanges()
            #expect(try await Self.names(desk).count == 24)
            engine.state.add(
                pendingRecordZoneChanges: records.reversed().map { .deleteRecord($0.recordID) }
            )
            try await engine.sendChanges()
            #expect(try await Self.names(desk).isEmpty)
            #expect(sender.heard.failed.isEmpty)
            #expect(sender.heard.deleted.count == 24)
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a child whose parent comes in no request is the app's, and all else is saved`() async throws {
        var options = TestServer.Options()
        options.bounds.requestItemsMax = 5
        try await SyncDesk.run(options) { desk in
            try await desk.database.save(desk.zone)
            let orphans = (0..<7).map { CKRecord(recordType: "Note", recordID: desk.id("orphan\($0)")) }
            let parent = CKRecord.ID(recordName: "nowhere", zoneID: desk.zone.zoneID)
            for orphan in orphans { orphan.parent = CKRecord.Reference(recordID: parent, action: .none) }
            let others = (0..<7).map { CKRecord(recordType: "Note", recordID: desk.id("n\($0)")) }
            let sender = Sender(orphans + others)
            let engine = sender.start(desk.database)
            engine.state.add(pendingRecordZoneChanges: Self.save(orphans + others))
            for _ in 0..<5 where !engine.state.pendingRecordZoneChanges.isEmpty {
                try? await engine.sendChanges()
            }
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(try await Self.names(desk) == Set(others.map(\.recordID.recordName)))
            #expect(Set(sender.heard.failed.keys) == Set(orphans.map(\.recordID.recordName)))
            #expect(sender.heard.failed.values.allSatisfy { $0 == .referenceViolation })
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a zone that is deleted and added again keeps its records`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            // An engine does not hold its delegate.
            defer { withExtendedLifetime(app) {} }
            try await desk.save("x", to: desk.id("kept"))
            engine.state.add(pendingDatabaseChanges: [.deleteZone(desk.zone.zoneID), .saveZone(desk.zone)])
            try await engine.sendChanges()
            #expect(try await Self.names(desk) == ["kept"])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a provider that makes records up has nothing sent, and comes to an end`() async throws {
        try await SyncDesk.run { desk in
            try await desk.database.save(desk.zone)
            let id = desk.id("asked")
            let sender = MakerUp(zone: desk.zone.zoneID)
            var configuration = CKSyncEngine.Configuration(
                database: desk.database,
                stateSerialization: nil,
                delegate: sender
            )
            configuration.automaticallySync = false
            let engine = CKSyncEngine(configuration)
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
            try await engine.sendChanges()
            #expect(try await Self.names(desk).isEmpty)
            #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(id)])
        }
    }

    /// Returns another record than it is asked for.
    private final class MakerUp: CKSyncEngineDelegate {
        private let zone: CKRecordZone.ID

        init(zone: CKRecordZone.ID) { self.zone = zone }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext,
            syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            await CKSyncEngine.RecordZoneChangeBatch(
                pendingChanges: syncEngine.state.pendingRecordZoneChanges
            ) { _ in CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: self.zone)) }
        }
    }

    // MARK: States

    @Test(.timeLimit(.minutes(10)))
    func `a state of the other environment is one of another account, and deletes nothing`() async throws {
        try await TestServer.runOnChosenEngine(.defaults) { server in
            let development = try await server.container(for: "alice").privateCloudDatabase
            let production = try await server.container(for: "alice", environment: .production)
                .privateCloudDatabase
            let app = SyncApp()
            let first = app.start(development)
            let zone = CKRecordZone(zoneName: "Z")
            first.state.add(pendingDatabaseChanges: [.saveZone(zone)])
            try await first.sendChanges()
            try await first.fetchChanges()
            let before = app.kept.accounts.count
            _ = app.takeLog()
            app.stop()
            let second = app.start(production)
            try await second.fetchChanges()
            #expect(!app.takeLog().contains { $0.contains("deletions: [Z") })
            let accounts = app.kept.accounts.dropFirst(before)
            #expect(accounts.count == 1)
            guard case .switchAccounts = accounts.first else {
                Issue.record("\(accounts)")
                return
            }
            // The state is the new database's from then on.
            app.stop()
            try await app.start(production).fetchChanges()
            #expect(app.kept.accounts.count == before + 1)
        }
    }
}
