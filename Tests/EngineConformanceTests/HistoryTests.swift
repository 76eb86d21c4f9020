import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// Histories of zones, and undos.
@Suite(.timeLimit(.minutes(10)))
struct HistoryTests {
    private static let installation = [UInt8](repeating: 7, count: 16)
    private static let dayMilliseconds: Int64 = 86_400_000

    private static func text(_ text: String) -> [String: FieldValue] { ["text": .string(text)] }

    private static func scene(_ kind: EngineKind) async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(kind)
        try it.keepHistory()
        return it
    }

    /// Lets housekeeping work beside small transactions, until something is so.
    private static func housekeeping(in it: EngineUnderTest, until isSo: () throws -> Bool) async throws {
        while try !isSo() { _ = try await it.modifyZones(["other"]) }
    }

    // MARK: Keeping

    @Test(arguments: EngineKind.allCases)
    func `without a history nothing is kept`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a", Self.text("1"))])
        _ = try await it.modify([save("a", Self.text("2"))], policy: .allKeys)
        _ = try await it.modify([], deletes: [id("a")])
        #expect(try it.count(PastRow.self) == 0 && it.count(PastZoneRow.self) == 0)
        #expect(try await it.history().extent() == nil)
        await #expect(throws: StoreError.zoneMissing) {
            try await it.history(of: ZoneID(zoneName: "none")).extent()
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `each change is kept with who made it when, and what it replaced`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind)
        var alice = it.privately
        alice.installation = InstallationID(Self.installation)
        let begin = try #require(try await it.history().extent()).position
        let start = it.clock.milliseconds
        _ = try await it.modify([save("p"), save("a", Self.text("1"))])
        it.clock.advance(milliseconds: 1_000)
        _ = try await it.modify(
            [save("a", ["more": .int64(2)], parent: .set(recordName: "p"))],
            policy: .changedKeys,
            by: alice
        )
        it.clock.advance(milliseconds: 1_000)
        _ = try await it.modify([], deletes: [id("a")])
        let changes = try await it.history().changes()
        #expect(changes.map(\.recordName) == ["p", "a", "a", "a"])
        #expect(changes.map(\.kind) == [.created, .created, .updated, .deleted])
        #expect(changes.map(\.milliseconds) == [start, start, start + 1_000, start + 2_000])
        #expect(changes.map(\.before) == [nil, nil, changes[1].position, changes[2].position])
        #expect(changes.map(\.installation) == [[], [], Self.installation, []])
        #expect(changes.allSatisfy { $0.author == EngineUnderTest.alice && $0.recordType == "Note" })
        let past = try await it.history().records(before: changes.map(\.position))
        #expect(past[0] == nil && past[1] == nil)
        #expect(past[2]?.parent == nil && past[2]?.body.fields.map(\.name) == ["text"])
        #expect(past[3]?.parent == "p" && past[3]?.body.fields.map(\.name) == ["more", "text"])
        #expect(past[3]?.system.modifiedMilliseconds == start + 1_000)
        let extent = try #require(try await it.history().extent())
        #expect(extent.since >= begin && extent.since < changes[0].position)
        #expect(extent.sinceMilliseconds <= start && extent.days == 30)
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a refused change and a replay leave nothing, shares and users' records neither`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        let request = it.newRequestID()
        for _ in 0..<2 { _ = try await it.modify([save("a", Self.text("1"))], id: request) }
        let refused = try await it.modify([save("b"), save("a", Self.text("2"))])
        #expect(refused.allSatisfy { $0.error != nil })
        #expect(try await it.history().changes().map(\.recordName) == ["a"])
        _ = try await it.share("list") { $0.participants = [participant(EngineUnderTest.bob)] }
        _ = try await it.modify(
            [save(EngineUnderTest.alice, in: .default, type: UserRecord.type, Self.text("me"))],
            policy: .changedKeys
        )
        let kept = try it.rows(PastRow.self).map(\.name)
        #expect(Set(kept) == ["a", "list"])
    }

    @Test(arguments: EngineKind.allCases)
    func `what goes along with a delete is kept, and the zone's past goes with the zone`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        _ = try await it.modify([
            save("a"), save("b", ["r": reference("a", .deleteSelf)]),
            save("c", ["r": reference("b", .deleteSelf)]),
        ])
        let position = try #require(try await it.history().extent()).position
        let state = try await it.history().state()
        _ = try await it.modify([], deletes: [id("a")])
        #expect(try await it.history().state().records.isEmpty)
        #expect(try await it.history().changes(after: position).map(\.recordName) == ["c", "b", "a"])
        let undone = try await it.history().undo(to: .position(position))
        #expect(undone.errors == [] && undone.plan.changes == 3)
        #expect(try await it.history().state() == state)
        _ = try await it.modifyZones([], deletes: ["notes"])
        try await it.swept()
        #expect(try it.count(PastRow.self) == 0 && it.count(PastZoneRow.self) == 0)
        #expect(try await it.wrongCounters() == [])
    }

    // MARK: Where a history begins

    @Test(arguments: EngineKind.allCases)
    func `a history has no gap: kept anew, it begins anew`(kind: EngineKind) async throws {
        var it = try await Self.scene(kind)
        _ = try await it.modify([save("a", Self.text("1"))])
        let first = try #require(try await it.history().extent())
        it = try await it.reopened()
        _ = try await it.modify([save("b", Self.text("1"))])
        #expect(try await it.history().extent()?.since == first.since)
        try it.keepHistory(days: 5)
        _ = try await it.modify([save("c", Self.text("1"))])
        #expect(try await it.history().extent()?.since == first.since)
        #expect(try await it.history().changes().count == 3)
        // At once, so that housekeeping has done nothing.
        try it.keepHistory(days: 0)
        #expect(try await it.history().extent() == nil)
        _ = try await it.modify([save("unseen", Self.text("1"))])
        try it.keepHistory()
        let between = try #require(try await it.history().extent())
        #expect(between.since == between.position && between.sinceMilliseconds > first.sinceMilliseconds)
        _ = try await it.modify([save("d", Self.text("1"))])
        let second = try #require(try await it.history().extent())
        #expect(second.since >= between.since && second.since < second.position)
        #expect(try await it.history().changes(after: second.since).map(\.recordName) == ["d"])
        it.clock.advance(milliseconds: 3_700_000)
        try await Self.housekeeping(in: it) { try it.count(PastRow.self) == 1 }
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `changes go when their days are over, and their files after the grace time`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        try it.keepHistory(days: 2)
        try await it.upload(file(1), file(2))
        _ = try await it.modify([save("a", ["f": .asset(file(1))])])
        _ = try await it.modify([save("a", ["f": .asset(file(2))])], policy: .allKeys)
        _ = try await it.modify([], deletes: [id("a")])
        #expect(try await it.wrongUses() == [])
        it.clock.advance(milliseconds: Self.dayMilliseconds + EngineUnderTest.graceMilliseconds - 1)
        // Both are held, however long ago the record named them.
        #expect(try await it.removals() == [])
        _ = try await it.modify([save("b", Self.text("young"))])
        let changes = try await it.history().changes()
        #expect(changes.count == 4)
        it.clock.advance(milliseconds: 3_700_000)
        try await Self.housekeeping(in: it) { try it.count(PastRow.self) == 1 }
        let extent = try #require(try await it.history().extent())
        #expect(try await it.history().changes().map(\.recordName) == ["b"])
        #expect(extent.since == changes[2].position)
        #expect(try await it.wrongUses() == [])
        #expect(try await it.removals() == [])
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        #expect(try await it.removals().count == 2)
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a quota refuses no change for its past: the history begins anew, and makes room`(
        kind: EngineKind
    ) async throws {
        var it = try await Self.scene(kind)
        let body: [String: FieldValue] = ["b": .bytes([UInt8](repeating: 1, count: 4_000))]
        _ = try await it.modify([save("a", body), save("c", body)])
        let stored = try it.store.directory.usage(ofContainer: EngineUnderTest.container).total.bytes
        it = try await it.reopened { $0.quotas.userBytes = stored + 2_000 }
        let extent = try #require(try await it.history().extent())
        let other: [String: FieldValue] = ["b": .bytes([UInt8](repeating: 2, count: 4_000))]
        #expect(try await it.modify([save("a", other)], policy: .allKeys).areSaved)
        let anew = try #require(try await it.history().extent())
        #expect(anew.since > extent.since && anew.since == anew.position)
        #expect(try await it.history().changes(after: anew.since) == [])
        while try it.count(PastRow.self) > 0 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(try await it.wrongCounters() == [])
        #expect(try await it.modify([], deletes: [id("c")]) == [.deleted])
        #expect(try await it.wrongCounters() == [])
    }

    // MARK: Undo

    @Test(arguments: EngineKind.allCases)
    func `an undo brings back fields, parents, files and creators, by changes with new positions`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        try await it.upload(file(1), file(2))
        let start = it.clock.milliseconds
        _ = try await it.modify([
            save("p"), save("b", Self.text("1")),
            save("a", ["f": .asset(file(1)), "text": .string("1")], parent: .set(recordName: "p")),
        ])
        let target = try #require(try await it.history().extent()).position
        let state = try await it.history().state()
        let token = try await it.all().token
        it.clock.advance(milliseconds: 5_000)
        _ = try await it.modify([save("b", ["text": .clear, "other": .int64(1)])], policy: .changedKeys)
        _ = try await it.modify([save("new")], deletes: [id("a"), id("p")])
        let damaged = try await it.history().state()
        #expect(damaged != state)
        let undone = try await it.history().undo(to: .position(target))
        #expect(undone.errors == [])
        #expect(try await it.history().state() == state)
        let record = try #require(try await it.record(id("a")))
        #expect(record.system.createdMilliseconds == start)
        #expect(record.system.modifiedMilliseconds == start + 5_000)
        #expect(try await it.locate([file(1)], of: id("a")).count == 1)
        #expect(try await it.wrongUses() == [])
        // A device that had the state of before learns of what it lacks, and of nothing as a new zone.
        #expect(Set(try await it.all(after: token).items) == ["p", "a", "b", "-new"])
        // An undo can be undone.
        let again = try await it.history().undo(to: .position(undone.position))
        #expect(again.errors == [])
        #expect(try await it.history().state() == damaged)
        #expect(try await it.history().undo(to: .position(again.position)).errors == [])
        #expect(try await it.history().state() == state)
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a time is where the first later change begins`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind)
        for round in 0..<4 {
            _ = try await it.modify([save("a", Self.text("\(round)"))], policy: .allKeys)
            it.clock.advance(milliseconds: 1_000)
        }
        let now = it.clock.milliseconds
        let undone = try await it.history().undo(to: .milliseconds(now - 3_000))
        #expect(undone.plan.changes == 2)
        #expect(try await it.record(id("a"))?["text"] == .string("1"))
    }

    @Test(arguments: EngineKind.allCases)
    func `the changes of one author are undone, and what others changed later stays`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        try it.keepHistory()
        let open = it.publicly
        func change(_ name: String, _ text: String, by requester: Requester) async throws {
            let saves = [save(name, in: .default, Self.text(text))]
            #expect(try await it.modify(saves, policy: .allKeys, by: requester).areSaved)
        }
        for name in ["a", "b", "c"] { try await change(name, "good", by: open) }
        // Everybody may do everything.
        try it.changeGrants { _, _ in Int64(Permissions([.read, .create, .write]).rawValue) }
        let target = try #require(try await it.history(of: .default, by: open).extent()).position
        try await change("a", "bad", by: it.bobPublicly)
        try await change("b", "bad", by: it.bobPublicly)
        try await change("b", "better", by: open)
        try await change("d", "bad", by: it.bobPublicly)
        try await change("c", "better", by: open)
        let bob = ChangeAuthor.user(EngineUnderTest.bob)
        let undone = try await it.history(of: .default, by: open).undo(to: .position(target), of: bob)
        #expect(undone.errors == [] && undone.kept == ["b"])
        func texts() async throws -> [String: FieldValue?] {
            var texts: [String: FieldValue?] = [:]
            for name in ["a", "b", "c", "d"] {
                texts[name] = try await it.record(id(name, in: .default), by: open)?["text"]
            }
            return texts
        }
        #expect(
            try await texts() == [
                "a": .string("good"), "b": .string("better"), "c": .string("better"), "d": nil,
            ]
        )
        let all = try await it.history(of: .default, by: open).undo(
            to: .position(target),
            of: bob,
            overridingLater: true
        )
        #expect(all.errors == [] && all.kept == [])
        #expect(try await texts()["b"] == .string("good"))
    }

    @Test(arguments: EngineKind.allCases)
    func `in the public database an undo needs no right, and keeps who had made what`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        try it.keepHistory()
        try await it.upload(file(1), by: it.bobPublicly)
        let bobs = [save("b", in: .default, ["f": .asset(file(1))])]
        #expect(try await it.modify(bobs, by: it.bobPublicly).areSaved)
        let target = try #require(try await it.history(of: .default, by: it.publicly).extent()).position
        _ = try await it.modify([], deletes: [id("b", in: .default)], by: it.bobPublicly)
        // Alice, who undoes it, has sent no such file.
        #expect(try await it.modify(bobs, by: it.publicly)[0].error == .assetNotAvailable(field: "f"))
        let undone = try await it.history(of: .default, by: it.publicly).undo(to: .position(target))
        #expect(undone.errors == [])
        let record = try #require(try await it.record(id("b", in: .default), by: it.bobPublicly))
        #expect(record.system.createdBy == EngineUnderTest.bob)
        #expect(record.system.modifiedBy == EngineUnderTest.alice)
        // It is another's, whom the default grants let nobody else change.
        let foreign = [save("b", in: .default, Self.text("x"))]
        #expect(
            try await it.modify(foreign, policy: .changedKeys, by: it.publicly)[0].error
                == .permissionDenied(.write)
        )
        #expect(try await it.wrongUses() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a participant cannot name a file that only the past has`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind)
        // Of the whole zone, so that no record says what the participant may not read.
        let share = try await it.share(nil, named: ShareRecord.zoneWideName)
        try await it.join(share, by: it.bobShared)
        try await it.upload(file(1))
        _ = try await it.modify([save("list", ["f": .asset(file(1))])], policy: .changedKeys)
        _ = try await it.modify([save("list", ["f": .clear])], policy: .changedKeys)
        #expect(try it.rows(AssetUseRow.self).map(\.record).allSatisfy { $0 < 0 })
        let named = RecordSave(
            id: sharedID("list"),
            recordType: "Note",
            changes: RecordBody([Field(name: "f", value: .asset(file(1)))])
        )
        #expect(
            try await it.modify([named], policy: .changedKeys, by: it.bobShared)[0].error
                == .assetNotAvailable(field: "f")
        )
    }
}
