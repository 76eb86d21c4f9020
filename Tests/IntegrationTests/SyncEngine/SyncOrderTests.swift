import CloudKit
import CloudKitTesting
import Foundation
import Synchronization
import Testing

/// What a delegate is told, in which order.
struct SyncOrderTests {
    private let manual = "reason=manual, scope=all"

    @Test(.timeLimit(.minutes(10)))
    func `zones are sent first, then records, a told batch after the other`() async throws {
        try await SyncDesk.run { desk in
            let app = SyncApp()
            let engine = app.start(desk.database)
            engine.state.add(pendingDatabaseChanges: [.saveZone(desk.zone)])
            for name in ["a", "b", "c"] { app.write("one", to: desk.id(name)) }
            app.erase(desk.id("c"))
            try await engine.sendChanges()
            #expect(
                app.takeLog() == [
                    "willSendChanges(\(self.manual))",
                    "sentDatabaseChanges(saved: [Z], failedSaves: [], deleted: [], failedDeletes: [])",
                    "sentRecordZoneChanges(saved: [Z/a, Z/b], failedSaves: [], deleted: [Z/c], failedDeletes: [])",
                    "didSendChanges(\(self.manual))",
                ]
            )
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(engine.state.pendingDatabaseChanges.isEmpty)
            #expect(app.kept.state?.pendingRecordZoneChanges == [])
            #expect(app.kept.accounts.count == 1)
            guard case .signIn(let user)? = app.kept.accounts.first else {
                Issue.record("nobody has signed in")
                return
            }
            #expect(user.recordName.hasPrefix("_"))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `what changed is told zone by zone, and nothing is told twice`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            try await desk.save("x", to: desk.id("a"))
            try await desk.save("x", to: desk.id("b"))
            try await desk.database.deleteRecord(withID: desk.id("b"))
            try await engine.fetchChanges()
            let fetch = "\(self.manual), prioritized=[]"
            #expect(
                app.takeLog() == [
                    "willFetchChanges(\(fetch))", "fetchedDatabaseChanges(modifications: [Z], deletions: [])",
                    "willFetchRecordZoneChanges(Z)",
                    "fetchedRecordZoneChanges(modifications: [Z/a], deletions: [Z/b])",
                    "didFetchRecordZoneChanges(Z)", "didFetchChanges(\(fetch))",
                ]
            )
            #expect(app.texts == ["a": "x"])
            try await engine.fetchChanges()
            #expect(app.takeLog() == ["willFetchChanges(\(fetch))", "didFetchChanges(\(fetch))"])
            try await desk.database.deleteRecordZone(withID: desk.zone.zoneID)
            try await engine.fetchChanges()
            #expect(
                app.takeLog() == [
                    "willFetchChanges(\(fetch))", "fetchedDatabaseChanges(modifications: [], deletions: [Z])",
                    "didFetchChanges(\(fetch))",
                ]
            )
            #expect(app.texts.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a page after the other comes, and a state after each`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            let records = (0..<450).map { number in
                CKRecord(recordType: "Note", recordID: desk.id("n\(number)"))
            }
            for start in [0, 225] {
                _ = try await desk.database.modifyRecords(
                    saving: Array(records[start..<start + 225]),
                    deleting: []
                )
            }
            let states = app.kept.states
            try await engine.fetchChanges()
            let log = app.takeLog()
            #expect(log.filter { $0.hasPrefix("fetchedRecordZoneChanges") }.count == 3)
            #expect(log.filter { $0.hasPrefix("willFetchRecordZoneChanges") }.count == 1)
            #expect(app.kept.states - states >= 4)
            #expect(app.texts.count == 450)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `prioritized zones are fetched before any other, and zones out of the scope not at all`()
        async throws
    {
        try await SyncDesk.run { desk in
            for name in ["A", "B", "C", "D", "E", "F"] {
                try await desk.database.save(CKRecordZone(zoneName: name))
                try await desk.save("x", to: desk.id("n", in: name))
            }
            let app = SyncApp(prioritized: [CKRecordZone.ID(zoneName: "E")])
            let engine = app.start(desk.database)
            let scope = CKSyncEngine.FetchChangesOptions.Scope.allExcluding([CKRecordZone.ID(zoneName: "B")])
            try await engine.fetchChanges(.init(scope: scope))
            let zones = app.takeLog().filter { $0.contains("RecordZoneChanges(") }
            #expect(zones.first == "willFetchRecordZoneChanges(E)")
            #expect(zones.firstIndex(of: "didFetchRecordZoneChanges(E)") == 2)
            #expect(
                zones.filter { $0.hasPrefix("did") }.sorted()
                    == ["A", "C", "D", "E", "F"].map {
                        "didFetchRecordZoneChanges(\($0))"
                    }
            )
            #expect(engine.state.zoneIDsWithUnfetchedServerChanges.map(\.zoneName) == ["B"])
            try await engine.fetchChanges()
            #expect(engine.state.zoneIDsWithUnfetchedServerChanges == [])
            #expect(app.kept.texts.count == 6)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `only what is in the scope is sent`() async throws {
        try await SyncDesk.run { desk in
            let app = SyncApp()
            let engine = app.start(desk.database)
            for name in ["A", "B"] {
                engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: name))])
                app.write("x", to: desk.id("1", in: name))
                app.write("x", to: desk.id("2", in: name))
            }
            try await engine.sendChanges(.init(scope: .recordIDs([desk.id("2", in: "B")])))
            #expect(engine.state.pendingDatabaseChanges.map(\.description) == ["saveZone(A)"])
            #expect(
                engine.state.pendingRecordZoneChanges == [
                    .saveRecord(desk.id("1", in: "A")), .saveRecord(desk.id("2", in: "A")),
                    .saveRecord(desk.id("1", in: "B")),
                ]
            )
            try await engine.sendChanges(.init(scope: .zoneIDs([CKRecordZone.ID(zoneName: "A")])))
            #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(desk.id("1", in: "B"))])
            try await engine.sendChanges()
            #expect(engine.state.pendingRecordZoneChanges == [])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a state is told only when the delegate has handled what came before it`() async throws {
        try await SyncDesk.run { desk in
            let handled = Mutex<[String]>([])
            let app = SyncApp { event, _ in
                guard case .fetchedRecordZoneChanges = event else {
                    if case .stateUpdate = event { handled.withLock { $0.append("state") } }
                    return
                }
                try? await Task.sleep(for: .milliseconds(30))
                handled.withLock { $0.append("page") }
            }
            let (_, engine) = try await desk.app(app)
            try await desk.save("x", to: desk.id("a"))
            handled.withLock { $0 = [] }
            try await engine.fetchChanges()
            let order = handled.withLock { $0 }
            // The first is the database's token, before the zone's page.
            #expect(order.prefix(3) == ["state", "page", "state"])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `untracked changes are asked for until the delegate has no more, and are the app's to set back`()
        async throws
    {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            engine.state.hasPendingUntrackedChanges = true
            try await engine.sendChanges()
            #expect(engine.state.hasPendingUntrackedChanges)
            await eventually { app.kept.state != nil }
            #expect(app.takeLog().count == 2)
            engine.state.hasPendingUntrackedChanges = false
            #expect(!engine.state.hasPendingUntrackedChanges)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `the default zone takes no part`() async throws {
        try await SyncDesk.run { desk in
            let app = SyncApp()
            let engine = app.start(desk.database)
            try await desk.save("x", to: CKRecord.ID(recordName: "a"))
            try await engine.fetchChanges()
            #expect(app.takeLog().count == 2)
            #expect(engine.state.zoneIDsWithUnfetchedServerChanges == [])
        }
    }
}
