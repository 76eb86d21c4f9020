import CloudKit
import CloudKitTesting
import Synchronization
import Testing

/// Whether an engine's app and its server have the same.
struct SyncCurrentTests {
    @Test(.timeLimit(.minutes(10)))
    func `an engine is current when it has sent and fetched everything`() async throws {
        try await SyncDesk.run { desk in
            let app = SyncApp()
            let engine = app.start(desk.database)
            #expect(try await !engine.isCurrent())
            engine.state.add(pendingDatabaseChanges: [.saveZone(desk.zone)])
            #expect(try await engine.waitUntilCurrent(timeout: .seconds(600)))
            #expect(try await engine.isCurrent())

            app.write("x", to: desk.id("a"))
            #expect(try await !engine.isCurrent())
            try await engine.sendChanges()
            // Its own change is one that it has not heard of.
            #expect(try await !engine.isCurrent())
            #expect(try await engine.waitUntilCurrent(timeout: .seconds(600)))

            try await desk.save("longer", to: desk.id("a"))
            #expect(try await !engine.isCurrent())
            app.write("y", to: desk.id("a"))
            // The conflict is resolved on the way.
            #expect(try await engine.waitUntilCurrent(timeout: .seconds(600)))
            #expect(app.texts == ["a": "longer"])
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(try await desk.database.record(for: desk.id("a"))["text"] == "longer")
            #expect(try await engine.isCurrent())
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a wait ends with its time if a change cannot be sent, which stays pending`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            app.write("x", to: desk.id("a"))
            desk.server.faults.add(.save(.every), .itemFailure(0, .zoneBusy, retryAfter: 30))
            #expect(try await !engine.waitUntilCurrent(timeout: .milliseconds(500)))
            #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(desk.id("a"))])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a wait outlives errors that pass`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            app.write("x", to: desk.id("a"))
            desk.server.faults.add(.save(.next), .rateLimited(retryAfter: 0.05))
            desk.server.faults.add(.fetchDatabaseChanges(.next), .rateLimited(retryAfter: 0.05))
            #expect(try await engine.waitUntilCurrent(timeout: .seconds(600)))
            #expect(try await desk.database.record(for: desk.id("a"))["text"] == "x")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a task that waits can be cancelled`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            app.write("x", to: desk.id("a"))
            desk.server.faults.add(.save(.every), .itemFailure(0, .zoneBusy, retryAfter: 30))
            let waiting = Task { try await engine.waitUntilCurrent(timeout: .seconds(600)) }
            await eventually { app.kept.log.contains { $0.hasPrefix("sentRecordZoneChanges") } }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(desk.id("a"))])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a delegate cannot wait for its own engine`() async throws {
        try await SyncDesk.run { desk in
            let error = Mutex<CKError?>(nil)
            let app = SyncApp(hears: { event, engine in
                guard case .willFetchChanges = event else { return }
                do { _ = try await engine.waitUntilCurrent(timeout: .seconds(1)) } catch let thrown {
                    error.withLock { $0 = thrown as? CKError }
                }
            })
            let engine = app.start(desk.database)
            try await engine.fetchChanges()
            #expect(error.withLock { $0 }?.code == .invalidArguments)
        }
    }
}
