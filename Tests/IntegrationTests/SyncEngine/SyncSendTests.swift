import CloudKit
import CloudKitTesting
import Foundation
import RecordModel
import Synchronization
import Testing

/// What a send takes, when it ends, and what is pending then.
struct SyncSendTests {
    private func sent(_ app: SyncApp) -> [String] { app.takeLog().filter { $0.hasPrefix("sent") } }

    @Test(.timeLimit(.minutes(10)))
    func `what the delegate adds while a send runs is sent by it, zones first`() async throws {
        try await SyncDesk.run { desk in
            let added = Mutex(false)
            let app = SyncApp { event, engine in
                guard case .sentRecordZoneChanges = event, !added.withLock({ $0 }) else { return }
                added.withLock { $0 = true }
                engine.state.add(pendingRecordZoneChanges: [.saveRecord(desk.id("later", in: "Y"))])
                engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "Y"))])
            }
            let (_, engine) = try await desk.app(app)
            app.write("x", to: desk.id("later", in: "Y"))
            engine.state.remove(pendingRecordZoneChanges: [.saveRecord(desk.id("later", in: "Y"))])
            app.write("x", to: desk.id("a"))
            try await engine.sendChanges()
            #expect(
                self.sent(app) == [
                    "sentRecordZoneChanges(saved: [Z/a], failedSaves: [], deleted: [], failedDeletes: [])",
                    "sentDatabaseChanges(saved: [Y], failedSaves: [], deleted: [], failedDeletes: [])",
                    "sentRecordZoneChanges(saved: [Y/later], failedSaves: [], deleted: [], failedDeletes: [])",
                ]
            )
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a zone that is added while the delegate has no batch is sent, and the delegate asked again`()
        async throws
    {
        try await SyncDesk.run { desk in
            let asked = Mutex(0)
            let app = SyncApp(isAsked: { engine in
                guard
                    asked.withLock({
                        $0 += 1; return $0 == 1
                    })
                else { return }
                engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "Y"))])
            })
            let engine = app.start(desk.database)
            engine.state.add(pendingDatabaseChanges: [.saveZone(desk.zone)])
            try await engine.sendChanges()
            #expect(self.sent(app).count == 2)
            #expect(asked.withLock { $0 } == 2)
            #expect(try await desk.database.allRecordZones().count == 3)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an item that fails ends the send, which throws, and what comes after it waits`() async throws {
        var options = TestServer.Options()
        options.bounds.requestItemsMax = 5
        try await SyncDesk.run(options) { desk in
            let (app, engine) = try await desk.app()
            let ids = (0..<12).map { desk.id("n\($0)") }
            for id in ids { app.write("x", to: id) }
            // Twelve and six are too many for a request, and halved.
            desk.server.faults.add(.save(.next), .itemFailure(1, .serverRejectedRequest))
            let error = await thrown { try await engine.sendChanges() }
            #expect(error?.code == .partialFailure)
            let failures = error?.partialErrorsByItemID ?? [:]
            #expect(failures.keys.compactMap { $0 as? CKRecord.ID } == [ids[1]])
            #expect((failures[ids[1]] as? CKError)?.code == .serverRejectedRequest)
            let log = app.takeLog()
            #expect(log.filter { $0.hasPrefix("sent") }.count == 1)
            #expect(log.last == "didSendChanges(reason=manual, scope=all)")
            #expect(engine.state.pendingRecordZoneChanges == ids.dropFirst(3).map { .saveRecord($0) })
            try await engine.sendChanges()
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a zone that fails ends the send too, before any record`() async throws {
        try await SyncDesk.run { desk in
            let app = SyncApp()
            let engine = app.start(desk.database)
            for name in ["A", "B"] {
                engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: name))])
            }
            app.write("x", to: desk.id("a", in: "A"))
            desk.server.faults.add(.saveZone(.next), .itemFailure(1, .quotaExceeded))
            await expect(.partialFailure) { try await engine.sendChanges() }
            #expect(
                self.sent(app) == [
                    "sentDatabaseChanges(saved: [A], failedSaves: [B: quotaExceeded], deleted: [], failedDeletes: [])"
                ]
            )
            #expect(engine.state.pendingDatabaseChanges.isEmpty)
            #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(desk.id("a", in: "A"))])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `the innocent of an atomic zone are the app's to add again`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app(SyncApp(isAtomic: true))
            for name in ["a", "b", "c"] { app.write("x", to: desk.id(name)) }
            desk.server.faults.add(.save(.next), .itemFailure(1, .serverRejectedRequest))
            await expect(.partialFailure) { try await engine.sendChanges() }
            #expect(
                self.sent(app) == [
                    "sentRecordZoneChanges(saved: [], failedSaves: [Z/a: batchRequestFailed, Z/b: serverRejectedRequest, "
                        + "Z/c: batchRequestFailed], deleted: [], failedDeletes: [])"
                ]
            )
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    // MARK: On their way

    @Test(.timeLimit(.minutes(10)))
    func `what is on its way is not pending, and is sent again by a launch that does not know its fate`()
        async throws
    {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            let gate = FaultPlan.Gate()
            desk.server.faults.add(.save(.next), .hold(until: gate))
            app.write("x", to: desk.id("a"))
            let sending = Task { try await engine.sendChanges() }
            await eventually { desk.server.faults.happened == 1 }
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            let kept = app.kept
            #expect(kept.state?.pendingRecordZoneChanges == [.saveRecord(desk.id("a"))])
            gate.open()
            try await sending.value
            #expect(app.kept.state?.pendingRecordZoneChanges == [])

            let second = SyncApp(kept)
            _ = second.takeLog()
            let launch = second.start(desk.database)
            // The server has it by now, which the app learns as a conflict.
            await expect(.partialFailure) { try await launch.sendChanges() }
            try await launch.sendChanges()
            #expect(second.texts == ["a": "x"])
            #expect(launch.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a zone on its way is not pending, and is again when it is cancelled`() async throws {
        try await SyncDesk.run { desk in
            let app = SyncApp()
            let engine = app.start(desk.database)
            let gate = FaultPlan.Gate()
            desk.server.faults.add(.saveZone(.next), .hold(until: gate))
            engine.state.add(pendingDatabaseChanges: [.saveZone(desk.zone)])
            let sending = Task { try await engine.sendChanges() }
            await eventually { desk.server.faults.happened == 1 }
            #expect(engine.state.pendingDatabaseChanges.isEmpty)
            #expect(app.kept.state?.pendingDatabaseChanges == [.saveZone(desk.zone)])
            sending.cancel()
            await expect(.operationCancelled) { try await sending.value }
            #expect(engine.state.pendingDatabaseChanges == [.saveZone(desk.zone)])
            gate.open()
            try await engine.sendChanges()
            #expect(engine.state.pendingDatabaseChanges.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a change that is made while an older one is on its way is sent after it`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            let gate = FaultPlan.Gate()
            desk.server.faults.add(.save(.next), .hold(until: gate))
            app.write("old", to: desk.id("a"))
            app.write("old", to: desk.id("b"))
            let sending = Task { try await engine.sendChanges() }
            await eventually { desk.server.faults.happened == 1 }
            app.write("newer", to: desk.id("a"))
            app.erase(desk.id("b"))
            #expect(
                engine.state.pendingRecordZoneChanges == [
                    .saveRecord(desk.id("a")), .deleteRecord(desk.id("b")),
                ]
            )
            gate.open()
            try await sending.value
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(try await desk.database.record(for: desk.id("a"))["text"] as? String == "newer")
            await expect(.unknownItem) { _ = try await desk.database.record(for: desk.id("b")) }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `what is removed while it is on its way is not pending again when it fails`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            let gate = FaultPlan.Gate()
            desk.server.faults.add(.save(.next), .hold(until: gate))
            app.write("x", to: desk.id("a"))
            let sending = Task { try await engine.sendChanges() }
            await eventually { desk.server.faults.happened == 1 }
            engine.state.remove(pendingRecordZoneChanges: [.saveRecord(desk.id("a"))])
            sending.cancel()
            await expect(.operationCancelled) { try await sending.value }
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(app.kept.state?.pendingRecordZoneChanges == [])
            gate.open()
        }
    }

    // MARK: Engines that sync by themselves

    @Test(.timeLimit(.minutes(10)))
    func `an engine that syncs by itself comes back for what the delegate adds again`() async throws {
        try await SyncDesk.run { desk in
            let (app, _) = try await desk.app()
            try await desk.save("longer", to: desk.id("a"))
            let engine = app.start(desk.database, automatically: true)
            desk.server.faults.add(.fetchChanges(.every), .rateLimited(retryAfter: 60))
            app.write("short", to: desk.id("a"))
            app.write("new", to: desk.id("b"))
            await eventually {
                app.kept.state?.pendingRecordZoneChanges == [] && app.kept.known.count == 2
            }
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(app.texts == ["a": "longer", "b": "new"])
            app.stop()
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an app that resolves nothing loses nothing`() async throws {
        try await SyncDesk.run { desk in
            let tries = Collected<Bool>()
            let app = SyncApp { event, engine in
                guard case .sentRecordZoneChanges(let sent) = event, !sent.failedRecordSaves.isEmpty else {
                    return
                }
                tries.append(true)
                engine.state.add(
                    pendingRecordZoneChanges: sent.failedRecordSaves.map { .saveRecord($0.record.recordID) }
                )
            }
            _ = try await desk.app(app)
            desk.server.faults.add(.save(.every), .itemFailure(0, .serverRejectedRequest))
            let engine = app.start(desk.database, automatically: true)
            app.write("x", to: desk.id("a"))
            await eventually { tries.values.count >= 4 }
            await eventually { engine.state.pendingRecordZoneChanges == [.saveRecord(desk.id("a"))] }
            app.stop()
        }
    }
}
