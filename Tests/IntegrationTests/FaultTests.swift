import CloudKit
import CloudKitTesting
import Foundation
import TestSupport
import Testing

/// What a test server can be told to do wrong, and what the SDK makes of it.
struct FaultTests {
    @Test(.timeLimit(.minutes(10)))
    func `the third save answers zoneBusy with the time to come back`() async throws {
        try await Desk.run { desk in
            desk.server.faults.add(.save(.third), .zoneBusy(retryAfter: 2))
            try await desk.database.save(desk.record("a"))
            try await desk.database.save(desk.record("b"))
            let error = await thrown { try await desk.database.save(desk.record("c")) }
            #expect(error?.code == .zoneBusy)
            #expect(error?.retryAfterSeconds == 2)
            #expect(error?.retryAdvice == .after(seconds: 2))
            try await desk.database.save(desk.record("c"))
            #expect(desk.server.faults.happened == 1)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `one refused item leaves the others alone, and fails them in an atomic batch`() async throws {
        try await Desk.run { desk in
            desk.server.faults.add(.save(.every), .itemFailure(1, .zoneBusy, retryAfter: 3))
            for isAtomic in [true, false] {
                let batch = [desk.record("a"), desk.record("b")]
                let results = try await desk.database.modifyRecords(
                    saving: batch,
                    deleting: [],
                    atomically: isAtomic
                ).saveResults
                let refused = results[desk.id("b")]?.cloudKitError
                #expect(refused?.code == .zoneBusy)
                #expect(refused?.retryAfterSeconds == 3)
                #expect(results[desk.id("a")]?.cloudKitError?.code == (isAtomic ? .batchRequestFailed : nil))
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a fault for one user does not befall another`() async throws {
        try await TestServer.run { server in
            server.faults.add(.fetchZone(.every, by: "bob"), .failure(.serviceUnavailable))
            let alice = try await server.container(for: "alice")
            let bob = try await server.container(for: "bob")
            _ = try await alice.privateCloudDatabase.allRecordZones()
            let error = await thrown { _ = try await bob.privateCloudDatabase.allRecordZones() }
            #expect(error?.code == .serviceUnavailable)
            server.faults.removeAll()
            _ = try await bob.privateCloudDatabase.allRecordZones()
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a request that is sent again is answered as it was executed, whatever would befall it now`()
        async throws
    {
        try await Desk.run { desk in
            desk.server.faults.add(.save(.first), .dropConnectionAfterCommit)
            desk.server.faults.add(.save(.second), .itemFailure(0, .zoneBusy, retryAfter: 3))
            let results = try await desk.database.modifyRecords(
                saving: [desk.record("a"), desk.record("b")],
                deleting: [],
                atomically: false
            ).saveResults
            #expect(desk.server.faults.happened == 2)
            #expect(results.values.allSatisfy { $0.cloudKitError == nil })
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a user is signed in in every container of a server, and a fault befalls him in any`() async throws {
        try await TestServer.run { server in
            server.faults.add(.fetchZone(.every, by: "bob"), .failure(.serviceUnavailable))
            var users: Set<CKRecord.ID> = []
            for identifier in ["iCloud.one", "iCloud.two"] {
                let alice = try await server.container(for: "alice", identifier: identifier)
                let bob = try await server.container(for: "bob", identifier: identifier)
                users.insert(try await alice.userRecordID())
                users.insert(try await bob.userRecordID())
                _ = try await alice.privateCloudDatabase.allRecordZones()
                let error = await thrown { _ = try await bob.privateCloudDatabase.allRecordZones() }
                #expect(error?.code == .serviceUnavailable)
            }
            #expect(users.count == 4)
        }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [FaultPlan.Effect.dropConnectionAfterCommit, .dropConnectionBeforeExecution]
    )
    func `a save whose connection drops is sent again and takes effect once`(
        effect: FaultPlan.Effect
    ) async throws {
        try await Desk.run { desk in
            desk.server.faults.add(.save(.next), effect)
            // Executed twice, the second would find the record of the first: serverRecordChanged.
            let saved = try await desk.database.save(desk.record("a", ["title": "once"]))
            #expect(desk.server.faults.happened == 1)
            let fetched = try await desk.database.record(for: desk.id("a"))
            #expect(fetched.recordChangeTag == saved.recordChangeTag)

            desk.server.faults.add(.save(.next), effect)
            saved["title"] = "twice"
            try await desk.database.save(saved)
            #expect(desk.server.faults.happened == 2)
            let again = try await desk.database.record(for: desk.id("a"))
            #expect(again.recordChangeTag == saved.recordChangeTag)
            #expect(again["title"] as? String == "twice")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a fetch and a new zone survive a connection that drops`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(desk.record("a"))
            desk.server.faults.add(.fetch(.next), .dropConnectionAfterCommit)
            desk.server.faults.add(.saveZone(.next), .dropConnectionAfterCommit)
            _ = try await desk.database.record(for: desk.id("a"))
            try await desk.database.save(CKRecordZone(zoneName: "more"))
            #expect(desk.server.faults.happened == 2)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a server that restarts under a client keeps its records, and the client finds it again`()
        async throws
    {
        try await Desk.run { desk in
            let before = try await desk.database.save(desk.record("a", ["title": "kept"]))
            try await desk.server.restart()
            let after = try await desk.database.record(for: desk.id("a"))
            #expect(after["title"] as? String == "kept")
            #expect(after.recordChangeTag == before.recordChangeTag)
            before["title"] = "changed"
            try await desk.database.save(before)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `what is in flight when a server stops is answered`() async throws {
        try await Desk.run { desk in
            desk.server.faults.add(.save(.next), .delay(.milliseconds(300)))
            let database = desk.database
            let id = desk.id("a")
            async let saved = database.save(CKRecord(recordType: "Note", recordID: id)).recordChangeTag
            await until { desk.server.faults.happened != 0 }
            try await desk.server.restart()
            #expect(try await saved != nil)
            #expect(try await database.record(for: id).recordChangeTag == saved)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a request that is held waits for the gate, and only that one`() async throws {
        try await Desk.run { desk in
            let gate = FaultPlan.Gate()
            desk.server.faults.add(.save(.next), .hold(until: gate))
            let (database, id) = (desk.database, desk.id("held"))
            async let held = database.save(CKRecord(recordType: "Note", recordID: id)).recordChangeTag
            await until { desk.server.faults.happened != 0 }
            try await database.save(desk.record("other"))
            await expect(.unknownItem) { _ = try await database.record(for: id) }
            gate.open()
            let tag = try await held
            #expect(try await database.record(for: id).recordChangeTag == tag)
            // A gate that is open holds nothing.
            desk.server.faults.add(.save(.next), .hold(until: gate))
            try await database.save(desk.record("third"))
            #expect(desk.server.faults.happened == 2)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `the clock moves by days without requests looking like replays`() async throws {
        try await Desk.run { desk in
            desk.server.clock.stop(at: Date(timeIntervalSince1970: 1_900_000_000))
            try await desk.database.save(desk.record("a"))
            desk.server.clock.advance(by: .seconds(30 * 86_400))
            let record = try await desk.database.save(desk.record("b"))
            #expect(record.creationDate == Date(timeIntervalSince1970: 1_900_000_000 + 30 * 86_400))
        }
    }
}
