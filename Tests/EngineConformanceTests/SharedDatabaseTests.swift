import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// What a user finds in their shared database, and what they may do with it.
@Suite(.timeLimit(.minutes(10)))
struct SharedDatabaseTests {
    /// A list with a task, shared with Bob, and a note beside it that is not.
    private static func scene(
        _ kind: EngineKind,
        _ permission: SharePermission = .readWrite
    ) async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("above"), save("secret", ["n": .int64(1)])])
        _ = try await it.modify([child("list", of: "above"), child("task", of: "list")])
        let share = try await it.share("list") {
            $0.participants = [participant(EngineUnderTest.bob, permission)]
        }
        try await it.join(share, by: it.bobShared)
        return it
    }

    private func names(_ it: EngineUnderTest, of type: String = "Note") async throws -> [String] {
        let query = QueryRead(query: Query(recordType: type, predicate: .all), zone: aliceNotes)
        return try await it.query(query, by: it.bobShared).records.map(\.id.recordName)
    }

    // MARK: - Reading

    @Test(arguments: EngineKind.allCases)
    func `a participant finds what is shared, and nothing else`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind)
        let fetched = try await it.fetch(
            ["list", "task", "share", "secret", "above", "nothing"].map { sharedID($0) },
            by: it.bobShared
        )
        let found = fetched.map { outcome -> String in
            guard case .record(let record) = outcome else { return "-" }
            return record.id.recordName + (record.parent.map { " of \($0)" } ?? "")
        }
        // What is above the root is not named.
        #expect(found == ["list", "task of list", "share", "-", "-", "-"])
        #expect(fetched[3...].allSatisfy { $0 == .failed(.recordMissing) })
        #expect(try await self.names(it) == ["list", "task"])
        let count = QueryRead(
            query: Query(recordType: "Note", predicate: .all),
            zone: aliceNotes,
            isCount: true
        )
        #expect(try await it.query(count, by: it.bobShared).count == 2)
        await #expect(throws: StoreError.zoneRequired) {
            try await it.query(
                QueryRead(query: Query(recordType: "Note", predicate: .all)),
                by: it.bobShared
            )
        }
        #expect(
            try await it.all(of: aliceNotes, by: it.bobShared).items.sorted() == ["list", "share", "task"]
        )
        guard case .zone(let zone) = try await it.zones(by: it.bobShared).first else {
            Issue.record("no zone")
            return
        }
        #expect(zone.id == aliceNotes)
    }

    @Test(arguments: EngineKind.allCases)
    func `who has not joined finds no zone`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind)
        let carol = try it.newUser("carol", 0xCA)
        #expect(try await it.zones(by: carol).isEmpty)
        #expect(try await it.zones(.ids([aliceNotes]), by: carol) == [.failed(.zoneMissing)])
        #expect(try await it.fetch([sharedID("list")], by: carol) == [.failed(.zoneMissing)])
        await #expect(throws: StoreError.zoneMissing) { try await it.all(of: aliceNotes, by: carol) }
        await #expect(throws: StoreError.zoneMissing) { try await it.token(of: aliceNotes, by: carol) }
        let query = QueryRead(query: Query(recordType: "Note", predicate: .all), zone: aliceNotes)
        await #expect(throws: StoreError.zoneMissing) { try await it.query(query, by: carol) }
        let saved = try await it.modify([sharedSave("list")], policy: .changedKeys, by: carol)
        #expect(saved == [.failed(.zoneMissing)])
        let creation = ModifyZones(scope: .shared, saves: [aliceNotes], deletes: [])
        #expect(
            try await it.write(.modifyZones(creation), by: carol).get() == [.failed(.databaseNotAllowed)]
        )
        let deletion = ModifyZones(scope: .shared, saves: [], deletes: [aliceNotes])
        #expect(try await it.write(.modifyZones(deletion), by: carol).get() == [.deleted], "absent for her")
        // Nor does Bob's private database have it.
        #expect(try await it.fetch([sharedID("list")], by: it.bobPrivately) == [.failed(.zoneMissing)])
    }

    @Test(arguments: EngineKind.allCases)
    func `participants see one another as far as the share permits`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind)
        let carol = try it.newUser("carol", 0xCA)
        var changes = ShareChanges()
        changes.participants = [participant(carol.userRecordName!)]
        changes.allowsAccessRequests = true
        try await it.changeShare("share", changes)
        // Those who were only invited are nobody's business but the owner's.
        var seen = try #require(try await it.share(named: "share", by: it.bobShared))
        #expect(seen.participants.map(\.role) == [.owner, .privateUser])
        #expect(seen.currentParticipantID == "p" + EngineUnderTest.bob)
        try await it.join(seen, by: carol)
        seen = try #require(try await it.share(named: "share", by: it.bobShared))
        #expect(seen.participants.count == 3)
    }

    // MARK: - Writing

    @Test(arguments: EngineKind.allCases)
    func `a participant who may write changes, adds and deletes what is shared`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        let saved = try await it.modify(
            [
                sharedSave("task", ["n": .int64(2)]),
                sharedSave("new", parent: .set(recordName: "list")),
                sharedSave("below", parent: .set(recordName: "new")),
            ],
            policy: .changedKeys,
            by: it.bobShared
        )
        #expect(saved.areSaved)
        let task = try #require(try await it.record(id("task")))
        #expect(task["n"] == .int64(2))
        #expect(task.system.modifiedBy == EngineUnderTest.bob)
        #expect(try await self.names(it) == ["below", "list", "new", "task"])
        #expect(try await it.modify([], deletes: [sharedID("below")], by: it.bobShared) == [.deleted])
        #expect(try await it.record(id("below")) == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `a participant who may read writes nothing`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind, .readOnly)
        let saved = try await it.modify(
            [sharedSave("task", ["n": .int64(2)]), sharedSave("new", parent: .set(recordName: "list"))],
            deletes: [sharedID("task")].filter { _ in false },
            policy: .changedKeys,
            isAtomic: false,
            by: it.bobShared
        )
        #expect(saved == [.failed(.permissionDenied(.write)), .failed(.permissionDenied(.create))])
        let deleted = try await it.modify([], deletes: [sharedID("task")], by: it.bobShared)
        #expect(deleted == [.failed(.permissionDenied(.write))])
    }

    @Test(arguments: EngineKind.allCases)
    func `a participant writes nothing beside the share, and learns of nothing there`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        func refusal(
            _ save: RecordSave,
            _ policy: ModifyRecords.Policy = .changedKeys
        ) async throws -> StoreError? {
            try await it.modify([save], policy: policy, by: it.bobShared)[0].error
        }
        #expect(try await refusal(sharedSave("loose")) == .permissionDenied(.create))
        #expect(try await refusal(sharedSave("secret", ["n": .int64(2)])) == .permissionDenied(.write))
        // Not even that it is there, or what it is.
        #expect(
            try await refusal(sharedSave("secret"), .ifServerRecordUnchanged) == .permissionDenied(.write)
        )
        let parent = sharedSave("x", parent: .set(recordName: "secret"))
        #expect(try await refusal(parent) == .referenceTargetMissing(recordName: "secret"))
        let nothing = sharedSave("x", parent: .set(recordName: "nothing"))
        #expect(try await refusal(nothing) == .referenceTargetMissing(recordName: "nothing"))
        let refers = sharedSave("x", ["r": reference("secret", .validate)], parent: .set(recordName: "list"))
        #expect(try await refusal(refers) == .referenceTargetMissing(recordName: "secret"))
        guard case .recordExists(let known) = try await refusal(sharedSave("list"), .ifServerRecordUnchanged)
        else {
            Issue.record("a root was saved as new")
            return
        }
        #expect(known.parent == nil, "a conflict names what is above the share")
        let moved = sharedSave("task", parent: .removed)
        #expect(try await refusal(moved) == .permissionDenied(.write))
        let root = sharedSave("list", parent: .removed)
        #expect(try await refusal(root) == .permissionDenied(.write))
        // Deleting what is not there succeeds, and does nothing.
        #expect(try await it.modify([], deletes: [sharedID("secret")], by: it.bobShared) == [.deleted])
        #expect(try await it.record(id("secret")) != nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `in a zone that is shared as a whole everything is shared`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a"), save("b")])
        let share = try await it.share(nil, named: ShareRecord.zoneWideName)
        try await it.join(share, by: it.bobShared)
        #expect(try await self.names(it) == ["a", "b"])
        let saved = try await it.modify([sharedSave("loose")], by: it.bobShared)
        #expect(saved.areSaved)
        #expect(try await it.record(id("loose")) != nil)
        let first = try await it.changes(FeedRead(zone: aliceNotes, limit: 1), by: it.bobShared)
        #expect(first.totals?.records == 4)
    }

    @Test(arguments: EngineKind.allCases)
    func `a shared database takes subscriptions to itself, and to nothing in it`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        let database = Subscription(id: "d", kind: .database(recordType: nil), info: nil)
        let saved = try await it.modifySubscriptions(
            [
                database, query("q"),
                Subscription(id: "z", kind: .zone(aliceNotes, recordType: nil), info: nil),
            ],
            by: it.bobShared
        )
        #expect(saved[0] == .subscriptionSaved(database))
        #expect(saved[1...].allSatisfy { $0 == .failed(.databaseNotAllowed) })
    }

    // MARK: - Coming and going

    @Test(arguments: EngineKind.allCases)
    func `the zone comes with the first share and goes with the last`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let bob = it.bobShared
        let start = try await it.sharedZones(by: bob)
        #expect(start.items.isEmpty)
        let (a, b) = (try await it.share("a", named: "sa"), try await it.share("b", named: "sb"))
        try await it.join(a, by: bob)
        let joined = try await it.sharedZones(after: start.token, by: bob)
        #expect(joined.items == ["notes"])
        try await it.join(b, by: bob)
        #expect(try await it.sharedZones(after: joined.token, by: bob).items == ["notes"])
        // Leaving is deleting the share.
        #expect(try await it.modify([], deletes: [sharedID("sa")], by: bob) == [.deleted])
        #expect(try await it.share(named: "sa")?.participants.count == 1)
        #expect(try await it.record(sharedID("a"), by: bob) == nil)
        let left = try await it.sharedZones(after: joined.token, by: bob)
        #expect(left.items == ["notes"])
        #expect(try await it.modifyZones([], deletes: [], by: bob).isEmpty)
        let zones = ModifyZones(scope: .shared, saves: [], deletes: [aliceNotes])
        #expect(try await it.write(.modifyZones(zones), by: bob).get() == [.deleted])
        #expect(try await it.sharedZones(after: left.token, by: bob).items == ["-notes"])
        #expect(try await it.share(named: "sb")?.participants.count == 1)
        #expect(try await it.zones(by: bob).isEmpty)
    }

    @Test(arguments: EngineKind.allCases)
    func `a change in a share is news for its participants, and one beside it is not`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        let start = try await it.sharedZones(by: it.bobShared).token
        _ = try await it.modify([save("secret", ["n": .int64(5)])], policy: .changedKeys)
        let quiet = try await it.sharedZones(after: start, by: it.bobShared)
        #expect(quiet.items.isEmpty)
        _ = try await it.modify([save("task", ["n": .int64(5)])], policy: .changedKeys)
        #expect(try await it.sharedZones(after: start, by: it.bobShared).items == ["notes"])
        // A zone that is deleted takes everything along.
        _ = try await it.modifyZones([], deletes: ["notes"])
        #expect(try await it.sharedZones(after: start, by: it.bobShared).items == ["-notes"])
        #expect(try await it.fetch([sharedID("task")], by: it.bobShared) == [.failed(.zoneMissing)])
    }

    // MARK: - Feeds

    @Test(arguments: EngineKind.allCases)
    func `a feed tells of what moves into a share and out of it`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind)
        let bob = it.bobShared
        _ = try await it.modify([save("x"), child("y", of: "x"), child("z", of: "y")])
        let start = try await it.all(of: aliceNotes, by: bob).token
        #expect(try await it.all(after: start, of: aliceNotes, by: bob).items.isEmpty)
        _ = try await it.modify([child("x", of: "list")], policy: .changedKeys)
        for limit in [1, 2, 10] {
            let arrived = try await it.all(after: start, of: aliceNotes, limit: limit, by: bob)
            #expect(arrived.items == ["x", "y", "z"])
        }
        let middle = try await it.all(after: start, of: aliceNotes, by: bob).token
        _ = try await it.modify([save("x", parent: .removed)], policy: .changedKeys)
        _ = try await it.modify([child("y", of: "task")], policy: .changedKeys)
        let moved = try await it.all(after: middle, of: aliceNotes, by: bob)
        #expect(moved.items == ["-x", "y", "z"])
        // A user who knew nothing of it only learns of deletions that they could have known.
        #expect(try await it.all(after: start, of: aliceNotes, by: bob).items == ["-x", "y", "z"])
        _ = try await it.modify([], deletes: [id("z")])
        _ = try await it.modify([], deletes: [id("secret")])
        #expect(try await it.all(after: moved.token, of: aliceNotes, by: bob).items == ["-z"])
    }

    @Test(arguments: EngineKind.allCases)
    func `tokens of before somebody joined or left a share of the zone have expired`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        let bob = it.bobShared
        let token = try await it.all(of: aliceNotes, by: bob).token
        let other = try await it.share("other", named: "so")
        #expect(try await it.all(after: token, of: aliceNotes, by: bob).items.isEmpty)
        try await it.join(other, by: bob)
        await #expect(throws: StoreError.changeTokenExpired) {
            try await it.all(after: token, of: aliceNotes, by: bob)
        }
        let both = try await it.all(of: aliceNotes, by: bob)
        #expect(both.items.sorted() == ["list", "other", "share", "so", "task"])
        #expect(try await it.all(after: both.token, of: aliceNotes, by: bob).items.isEmpty)
        var changes = ShareChanges()
        changes.publicPermission = SharePermission.none
        try await it.changeShare("so", changes)
        _ = try await it.sharedZones(by: bob)
        await #expect(throws: StoreError.changeTokenExpired) {
            try await it.all(after: both.token, of: aliceNotes, by: bob)
        }
        #expect(try await it.all(of: aliceNotes, by: bob).items.sorted() == ["list", "share", "task"])
    }

    @Test(arguments: EngineKind.allCases)
    func `a tree of ten thousand records moves in one change, and readers see all of it or nothing`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        _ = try await it.modify([save("big")])
        for start in stride(from: 0, to: 10_000, by: 400) {
            let saves = (start..<start + 400).map { child("n\($0)", of: "big") }
            #expect(try await it.modify(saves, policy: .changedKeys).areSaved)
        }
        let token = try await it.all(of: aliceNotes, by: it.bobShared).token
        #expect(try await it.modify([child("big", of: "list")], policy: .changedKeys).areSaved)
        #expect(try await it.all(after: token, of: aliceNotes, by: it.bobShared).items.count == 10_001)
        #expect(try await it.record(sharedID("n9999"), by: it.bobShared) != nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `who loses a right hears of it, also on the connection that changes something at that moment`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        _ = try await it.zones(by: it.bobShared)
        _ = try await it.startWatching(it.listener(signIn: it.bobSignIn))
        let reports = it.reports()
        let run = ServerRun.fresh()
        it.clock.advance(milliseconds: 1_000)
        var changes = ShareChanges()
        changes.removed = ["p" + EngineUnderTest.bob]
        let ending = ModifyRecords(
            scope: .private,
            saves: [try await it.saveOfShareNow("share", changes)],
            policy: .changedKeys
        )
        let own = ModifyRecords(scope: .private, saves: [save("own", in: .default)])
        let results = await it.together([
            it.request(.modifyRecords(ending), origin: ChangeOrigin(run: run, connection: 1)),
            it.request(
                .modifyRecords(own),
                by: it.bobPrivately,
                origin: ChangeOrigin(run: run, connection: 2)
            ),
        ])
        #expect(try results.allSatisfy { try $0.get().areSaved })
        _ = try await it.zones(by: it.bobShared)
        let told = reports.take().flatMap(\.changes).filter { $0.database == it.bobShared.database }
        #expect(told.map(\.words) == ["-zone \(EngineUnderTest.alice)/notes"])
        #expect(told.map { $0.origin?.connection } != [2])
    }
}
