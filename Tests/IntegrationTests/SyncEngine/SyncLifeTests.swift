import CloudKit
import CloudKitTesting
import Foundation
import Synchronization
import Testing

/// Engines, their delegates and their users come and go.
struct SyncLifeTests {
    @Test(.timeLimit(.minutes(10)))
    func `a delegate can't fetch or send while it is called, and a task of it can`() async throws {
        try await SyncDesk.run { desk in
            let errors = Collected<CKError?>()
            let fetches = Collected<Bool>()
            let app = SyncApp { event, engine in
                guard case .didSendChanges = event else { return }
                errors.append(await thrown { try await engine.fetchChanges() })
                errors.append(await thrown { try await engine.sendChanges() })
                Task {
                    try? await engine.fetchChanges()
                    fetches.append(true)
                }
            }
            let engine = app.start(desk.database)
            try await engine.sendChanges()
            #expect(errors.values.map { $0?.code } == [.invalidArguments, .invalidArguments])
            #expect(errors.values[0]?.localizedDescription.contains("same sync engine") == true)
            await eventually { !fetches.values.isEmpty }
            #expect(app.takeLog().last?.hasPrefix("didFetchChanges") == true)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `what is cancelled stays pending, and the delegate is never interrupted`() async throws {
        try await SyncDesk.run { desk in
            let interrupted = Collected<Bool>()
            let (app, engine) = try await desk.app(SyncApp { _, _ in interrupted.append(Task.isCancelled) })
            for isTask in [false, true] {
                let happened = desk.server.faults.happened
                let gate = FaultPlan.Gate()
                desk.server.faults.add(.save(.next), .hold(until: gate))
                app.write("x\(isTask)", to: desk.id("a"))
                let sending = Task { try await engine.sendChanges() }
                await eventually { desk.server.faults.happened > happened }
                if isTask { sending.cancel() } else { await engine.cancelOperations() }
                await expect(.operationCancelled) { try await sending.value }
                #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(desk.id("a"))])
                #expect(app.takeLog().last?.hasPrefix("didSendChanges") == true)
                // What was cancelled may have been executed all the same, which the app hears of as
                // a conflict.
                gate.open()
                do { try await engine.sendChanges() } catch CKError.partialFailure {
                    try await engine.sendChanges()
                }
                #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            }
            #expect(interrupted.values.allSatisfy { !$0 })
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an engine ends with its app, whatever it is doing`() async throws {
        try await SyncDesk.run { desk in
            for faults: [FaultPlan.Effect] in [[], [.delay(.seconds(2))], [.rateLimited(retryAfter: 20)]] {
                weak var engine: CKSyncEngine?
                weak var state: CKSyncEngine.State?
                weak var gone: SyncApp?
                do {
                    for effect in faults { desk.server.faults.add(.fetchDatabaseChanges(.every), effect) }
                    let app = SyncApp()
                    engine = app.start(desk.database, automatically: true)
                    state = engine?.state
                    gone = app
                    try await Task.sleep(for: .milliseconds(100))
                }
                // What works for the engine holds its state.
                await eventually { gone == nil && engine == nil && state == nil }
                desk.server.faults.removeAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an engine whose delegate is gone does nothing, and loses nothing`() async throws {
        try await SyncDesk.run { desk in
            var app: SyncApp? = SyncApp()
            let engine = try #require(app).start(desk.database)
            engine.state.add(pendingDatabaseChanges: [.saveZone(desk.zone)])
            app = nil
            await expect(.operationCancelled) { try await engine.sendChanges() }
            #expect(engine.state.pendingDatabaseChanges.count == 1)
            #expect(try await desk.database.allRecordZones().count == 1)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a launch goes on from the last state, and hears again what was not handled`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            let before = app.kept
            try await desk.save("x", to: desk.id("a"))
            try await engine.fetchChanges()
            app.write("y", to: desk.id("b"))
            await eventually { app.kept.state?.pendingRecordZoneChanges.count == 1 }
            let data = try JSONEncoder().encode(try #require(app.kept.state))
            app.stop()

            var kept = app.kept
            kept.state = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
            kept.log = []
            let second = SyncApp(kept)
            let secondEngine = second.start(desk.database)
            #expect(secondEngine.state.pendingRecordZoneChanges == [.saveRecord(desk.id("b"))])
            try await secondEngine.sendChanges()
            #expect(second.kept.accounts == before.accounts)

            let third = SyncApp(before)
            try await third.start(desk.database).fetchChanges()
            #expect(
                third.takeLog().contains("fetchedRecordZoneChanges(modifications: [Z/a, Z/b], deletions: [])")
            )
        }
    }

    // MARK: Accounts

    @Test(.timeLimit(.minutes(10)))
    func `a token that is refused signs out, and clears what was pending`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            app.write("x", to: desk.id("a"))
            try await desk.server.revoke("alice")
            desk.server.faults.add(.save(.next), .dropConnectionBeforeExecution)
            await expect(.notAuthenticated) { try await engine.sendChanges() }
            #expect(engine.state.pendingRecordZoneChanges.count == 1)
            await expect(.notAuthenticated) { try await engine.sendChanges() }
            guard case .signOut(let user)? = app.kept.accounts.last, case .signIn(user) = app.kept.accounts[0]
            else {
                Issue.record("\(app.kept.accounts)")
                return
            }
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(app.kept.state?.pendingRecordZoneChanges == [])
            await expect(.notAuthenticated) { try await engine.fetchChanges() }
            #expect(app.kept.accounts.count == 2)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `another user than at the last launch gets nothing of the first one's`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            try await desk.save("x", to: desk.id("a"))
            try await engine.fetchChanges()
            app.write("y", to: desk.id("b"))
            await eventually { app.kept.state?.pendingRecordZoneChanges.count == 1 }
            app.stop()

            let bob = try await desk.server.container(for: "bob").privateCloudDatabase
            let second = SyncApp(app.kept)
            let secondEngine = second.start(bob)
            try await secondEngine.sendChanges()
            guard case .switchAccounts(let alice, let other)? = second.kept.accounts.last else {
                Issue.record("\(second.kept.accounts)")
                return
            }
            #expect(alice != other)
            #expect(secondEngine.state.pendingRecordZoneChanges.isEmpty)
            try await secondEngine.fetchChanges()
            #expect(try await bob.allRecordZones().count == 1)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `what was added before the first sign-in is sent after it`() async throws {
        try await SyncDesk.run { desk in
            let app = SyncApp()
            let engine = app.start(desk.database)
            engine.state.add(pendingDatabaseChanges: [.saveZone(desk.zone)])
            app.write("x", to: desk.id("a"))
            try await engine.sendChanges()
            #expect(app.kept.accounts.count == 1)
            #expect(try await desk.database.record(for: desk.id("a"))["text"] as? String == "x")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `nobody signed in is told to who asks, and to nobody else`() async throws {
        try await SyncDesk.run { desk in
            let app = SyncApp()
            let database = try await desk.server.anonymousContainer().privateCloudDatabase
            let engine = app.start(database)
            app.write("x", to: desk.id("a"))
            await expect(.notAuthenticated) { try await engine.fetchChanges() }
            await expect(.notAuthenticated) { try await engine.sendChanges() }
            #expect(app.takeLog().isEmpty && app.kept.accounts.isEmpty)
            #expect(engine.state.pendingRecordZoneChanges.count == 1)
        }
    }
}
