import Synchronization
import TestSupport
import Testing

@testable import CloudKit

/// What an engine does in the pause after a failed attempt.
struct SyncPauseTests {
    /// Hears everything and does nothing.
    private final class Listless: CKSyncEngineDelegate {
        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext,
            syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
    }

    /// The worker looks for its engine in each step, and finds nobody signed in.
    @Test(.timeLimit(.minutes(10)))
    func `an event during a pause is one step, and leaves no sleep behind`() async {
        let server = CKServerConnection(url: "tidemark://127.0.0.1:1")
        let database = CKContainer(identifier: "org.example.pause", connection: server).privateCloudDatabase
        let delegate = Listless()
        var configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: nil,
            delegate: delegate
        )
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        let (inbox, steps) = (SyncInbox(), Counter())
        let worker = SyncWorker(
            state: engine.state,
            inbox: inbox,
            server: SyncServer(database: database, subscriptionID: nil),
            machine: SyncMachine(isAutomatic: true, pace: .init(min: .seconds(3_600), max: .seconds(3_600))),
            engine: {
                steps.add()
                return engine
            },
            delegate: { delegate }
        )
        let work = Task { await worker.run(isListening: false) }
        await until { await !worker.alarms.isEmpty }
        let events = 20
        for _ in 0..<events {
            let before = steps.count
            inbox.post { $0.stateChanged = true }
            await until { steps.count != before }
        }
        // An engine that is busy would use this time.
        for _ in 0..<10_000 { await Task.yield() }
        #expect(steps.count <= 2 * events + 10)
        #expect(await worker.alarms.count == 1)
        work.cancel()
        await work.value
    }
}

private final class Counter: Sendable {
    private let value = Mutex(0)

    var count: Int { self.value.withLock { $0 } }

    func add() { self.value.withLock { $0 += 1 } }
}
