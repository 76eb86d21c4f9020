import CloudKit
import CloudKitTesting
import Foundation
import RecordModel
import Synchronization
import Testing

/// What an engine makes of a server that refuses, forgets and breaks off.
struct SyncFaultTests {
    private func texts(_ desk: SyncDesk) async throws -> [String: String] {
        let page = try await desk.database.recordZoneChanges(inZoneWith: desk.zone.zoneID, since: nil)
        return Dictionary(
            uniqueKeysWithValues: try page.modificationResultsByID.map { id, result in
                (id.recordName, try result.get().record["text"] as? String ?? "")
            }
        )
    }

    @Test(.timeLimit(.minutes(10)))
    func `an item that the server wants later is pending again, and the others of its batch are sent`()
        async throws
    {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            for name in ["a", "b"] { app.write("x", to: desk.id(name)) }
            desk.server.faults.add(.save(.next), .itemFailure(0, .zoneBusy, retryAfter: 30))
            await expect(.partialFailure) { try await engine.sendChanges() }
            #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(desk.id("a"))])
            #expect(
                app.takeLog().filter { $0.hasPrefix("sent") } == [
                    "sentRecordZoneChanges(saved: [Z/b], failedSaves: [Z/a: zoneBusy], deleted: [], failedDeletes: [])"
                ]
            )
            try await engine.sendChanges()
            #expect(try await self.texts(desk) == ["a": "x", "b": "x"])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a request that fails as a whole is told item by item, and thrown`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            app.write("x", to: desk.id("a"))
            desk.server.faults.add(.save(.next), .rateLimited(retryAfter: 30))
            await expect(.requestRateLimited) { try await engine.sendChanges() }
            #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(desk.id("a"))])
            #expect(
                app.takeLog().dropFirst() == [
                    "sentRecordZoneChanges(saved: [], failedSaves: [Z/a: requestRateLimited], deleted: [], failedDeletes: [])",
                    "didSendChanges(reason=manual, scope=all)",
                ]
            )
        }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            CKError.Code.notAuthenticated, .accountTemporarilyUnavailable, .networkFailure,
            .networkUnavailable,
            .requestRateLimited, .serviceUnavailable, .zoneBusy, .serverResponseLost,
        ]
    )
    func `what passes is tried again without the app`(code: CKError.Code) async throws {
        try await SyncDesk.run { desk in
            try await desk.database.save(desk.zone)
            try await desk.save("there", to: desk.id("b"))
            for occasion: FaultPlan.Occasion in [
                .save(.first), .saveZone(.first), .fetchChanges(.first), .fetchDatabaseChanges(.first),
            ] { desk.server.faults.add(occasion, .failure(code)) }
            desk.server.faults.add(.save(.second), .failure(code, retryAfter: 0.02))
            let app = SyncApp()
            let engine = app.start(desk.database, automatically: true)
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "Y"))])
            app.write("here", to: desk.id("a"))
            await eventually {
                app.kept.known[desk.id("a")] != nil && app.texts["b"] != nil
                    && app.kept.state?.pendingDatabaseChanges == []
            }
            #expect(try await self.texts(desk) == ["a": "here", "b": "there"])
            #expect(try await desk.database.allRecordZones().count == 3)
            app.stop()
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `the server's time is waited for`() async throws {
        try await SyncDesk.run { desk in
            let (app, _) = try await desk.app()
            desk.server.faults.add(.save(.next), .rateLimited(retryAfter: 0.4))
            app.start(desk.database, automatically: true)
            let start = ContinuousClock.now
            app.write("x", to: desk.id("a"))
            await eventually { app.kept.known[desk.id("a")] != nil }
            #expect(ContinuousClock.now - start >= .milliseconds(400))
            #expect(app.takeLog().filter { $0.hasPrefix("sentRecord") }.count == 2)
            app.stop()
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a batch that is too large goes in halves`() async throws {
        var options = TestServer.Options()
        options.bounds.requestItemsMax = 5
        try await SyncDesk.run(options) { desk in
            let (app, engine) = try await desk.app()
            for number in 0..<17 { app.write("x", to: desk.id("n\(number)")) }
            try await engine.sendChanges()
            #expect(app.takeLog().filter { $0.hasPrefix("sent") }.count == 4)
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(try await self.texts(desk).count == 17)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a zone of which all succeed or none is not halved`() async throws {
        var options = TestServer.Options()
        options.bounds.requestItemsMax = 5
        try await SyncDesk.run(options) { desk in
            let (app, engine) = try await desk.app(SyncApp(isAtomic: true))
            for number in 0..<6 { app.write("x", to: desk.id("n\(number)")) }
            await expect(.limitExceeded) { try await engine.sendChanges() }
            #expect(app.takeLog().filter { $0.contains("limitExceeded") }.count == 1)
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(try await self.texts(desk).isEmpty)
        }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [FaultPlan.Effect.dropConnectionAfterCommit, .dropConnectionBeforeExecution]
    )
    func `a connection that breaks is nothing that an app hears of`(effect: FaultPlan.Effect) async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            app.write("x", to: desk.id("a"))
            desk.server.faults.add(.save(.next), effect)
            desk.server.faults.add(.fetchChanges(.next), .dropConnectionBeforeExecution)
            try await engine.sendChanges()
            try await engine.fetchChanges()
            #expect(desk.server.faults.happened == 2)
            #expect(app.takeLog().filter { $0.contains("Failed") || $0.contains("failedSaves: [Z") }.isEmpty)
            #expect(try await self.texts(desk) == ["a": "x"])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a zone whose token has expired is fetched anew, and says so`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            try await desk.save("x", to: desk.id("a"))
            try await engine.fetchChanges()
            try await desk.database.deleteRecordZone(withID: desk.zone.zoneID)
            try await desk.database.save(desk.zone)
            try await desk.save("y", to: desk.id("b"))
            _ = app.takeLog()
            try await engine.fetchChanges()
            #expect(
                app.takeLog().filter { $0.contains("RecordZone") } == [
                    "willFetchRecordZoneChanges(Z)", "didFetchRecordZoneChanges(Z, changeTokenExpired)",
                    "willFetchRecordZoneChanges(Z, anew)",
                    "fetchedRecordZoneChanges(modifications: [Z/b], deletions: [Z/a])",
                    "didFetchRecordZoneChanges(Z)",
                ]
            )
            try await engine.fetchChanges()
            #expect(app.takeLog().count == 2)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a zone that starts anew and fails starts anew again, in another launch too`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            for number in 0..<300 { try await desk.save("x", to: desk.id("n\(number)")) }
            try await engine.fetchChanges()
            try await desk.save("y", to: desk.id("n1"))
            _ = app.takeLog()
            desk.server.faults.add(.fetchChanges(.first), .changeTokenExpired)
            desk.server.faults.add(.fetchChanges(.third), .rateLimited(retryAfter: 1))
            await expect(.requestRateLimited) { try await engine.fetchChanges() }
            #expect(app.takeLog().filter { $0.hasPrefix("fetchedRecord") }.count == 1)
            let other = SyncApp(app.kept)
            try await other.start(desk.database).fetchChanges()
            let log = other.takeLog()
            #expect(log.contains("willFetchRecordZoneChanges(Z, anew)"))
            #expect(log.filter { $0.hasPrefix("fetchedRecord") }.count == 2)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a database whose token has expired tells the zones that are no more`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            try await desk.database.save(CKRecordZone(zoneName: "Y"))
            try await engine.fetchChanges()
            try await desk.database.deleteRecordZone(withID: desk.zone.zoneID)
            _ = app.takeLog()
            desk.server.faults.add(.fetchDatabaseChanges(.next), .changeTokenExpired)
            try await engine.fetchChanges()
            #expect(
                app.takeLog()[1] == "fetchedDatabaseChanges(modifications: [Y], deletions: [Z])"
            )
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `what was sent before the first fetch, and deleted by somebody else before it, is heard of`()
        async throws
    {
        try await SyncDesk.run { desk in
            let app = SyncApp()
            let engine = app.start(desk.database)
            engine.state.add(pendingDatabaseChanges: [
                .saveZone(desk.zone), .saveZone(CKRecordZone(zoneName: "Y")),
            ])
            app.write("x", to: desk.id("a"))
            app.write("x", to: desk.id("b"))
            try await engine.sendChanges()
            try await desk.database.deleteRecord(withID: desk.id("a"))
            try await desk.database.deleteRecordZone(withID: CKRecordZone.ID(zoneName: "Y"))
            let other = SyncApp(app.kept)
            _ = other.takeLog()
            try await other.start(desk.database).fetchChanges()
            #expect(
                other.takeLog().dropFirst().dropLast() == [
                    "fetchedDatabaseChanges(modifications: [Z], deletions: [Y])",
                    "willFetchRecordZoneChanges(Z, anew)",
                    "fetchedRecordZoneChanges(modifications: [Z/b], deletions: [Z/a])",
                    "didFetchRecordZoneChanges(Z)",
                ]
            )
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a zone that is not there is the app's when it is sent to, and told as deleted when it is fetched`()
        async throws
    {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            app.write("x", to: desk.id("a", in: "nowhere"))
            await expect(.partialFailure) { try await engine.sendChanges() }
            #expect(app.takeLog()[1].contains("failedSaves: [nowhere/a: zoneNotFound]"))
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            try await desk.save("x", to: desk.id("a"))
            let gate = FaultPlan.Gate()
            desk.server.faults.add(.fetchChanges(.next), .hold(until: gate))
            async let fetched: Void = engine.fetchChanges()
            await eventually { desk.server.faults.happened == 1 }
            try await desk.database.deleteRecordZone(withID: desk.zone.zoneID)
            gate.open()
            try await fetched
            #expect(
                app.takeLog().filter { $0.contains("did") || $0.contains("fetchedD") }.prefix(3) == [
                    "fetchedDatabaseChanges(modifications: [Z], deletions: [])",
                    "didFetchRecordZoneChanges(Z, zoneNotFound)",
                    "fetchedDatabaseChanges(modifications: [], deletions: [Z])",
                ]
            )
        }
    }
}
