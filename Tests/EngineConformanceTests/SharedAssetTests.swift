import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// Files of a zone that somebody takes part in: whose they are, and who gets them.
@Suite(.timeLimit(.minutes(10)))
struct SharedAssetTests {
    /// A list that is shared with Bob, and a record beside it that is not.
    private static func scene(
        _ kind: EngineKind,
        _ permission: SharePermission = .readWrite,
        configure: (inout EngineSettings) -> Void = { _ in }
    ) async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(kind, configure: configure)
        _ = try await it.modify([save("secret"), save("list")])
        let share = try await it.share("list") {
            $0.participants = [participant(EngineUnderTest.bob, permission)]
        }
        try await it.join(share, by: it.bobShared)
        return it
    }

    private static func named(_ name: String, _ asset: Asset, parent: String? = nil) -> RecordSave {
        let parent = parent.map { RecordSave.ParentChange.set(recordName: $0) } ?? .unchanged
        return sharedSave(name, ["f": .asset(asset)], parent: parent)
    }

    /// The databases that have files: scope, number and bytes.
    private static func bytes(_ it: EngineUnderTest) throws -> [String] {
        try it.rows(DatabaseRow.self).filter { $0.stored.assets > 0 }.map {
            "\($0.scope.rawValue) \($0.stored.assets) \($0.stored.assetBytes)"
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a participant's file is the owner's, and both have it`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind)
        let numbers = try await it.upload(file(1), by: it.bobShared)
        #expect(try await it.modify([Self.named("new", file(1), parent: "list")], by: it.bobShared).areSaved)
        for (requester, id) in [(it.privately, id("new")), (it.bobShared, sharedID("new"))] {
            #expect(try await it.locate([file(1)], of: id, by: requester).map(\.number) == numbers)
        }
        #expect(try Self.bytes(it) == ["2 1 100"])
        #expect(try await it.begin([file(1)]) == [.complete], "the owner has it")
        #expect(try await it.begin([file(1)], by: it.bobPrivately)[0].number != nil, "Bob has it not")
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds + 1)
        #expect(try await it.removals().count == 1, "Bob's own upload")
        _ = try await it.modify([], deletes: [sharedID("new")], by: it.bobShared)
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds + 1)
        #expect(try await it.removals().contains(numbers[0]))
        #expect(try await it.wrongUses() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a participant can't find out which files the owner has`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind)
        try await it.upload(file(1))
        _ = try await it.modify([save("secret", ["f": .asset(file(1))])], policy: .changedKeys)
        let refused = WriteOutcome.failed(.assetNotAvailable(field: "f"))
        /// What Bob meets with a file, one step after the other.
        func steps(_ asset: Asset, _ name: String) async throws -> [String] {
            var steps: [String] = []
            let bob = it.bobShared
            func note(_ places: [UploadStatus]) { steps.append(places[0].number == nil ? "has" : "send") }
            let named = Self.named(name, asset, parent: "list")
            steps.append("\(try await it.modify([named], by: bob) == [refused])")
            note(try await it.begin([asset], by: bob))
            steps.append("\(try await it.modify([named], by: bob) == [refused])")
            try await it.upload(asset, by: bob)
            note(try await it.begin([asset], by: bob))
            it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds + 1)
            let gone = try await it.removals()
            try await it.removed(gone)
            steps.append("\(gone.count)")
            steps.append("\(try await it.modify([named], by: bob) == [refused])")
            note(try await it.begin([asset], by: bob))
            try await it.upload(asset, by: bob)
            steps.append("\(try await it.modify([named], by: bob).areSaved)")
            // What was sent is used up: whether the owner has it is no matter.
            note(try await it.begin([asset], by: bob))
            it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds + 1)
            try await it.removed(try await it.removals())
            return steps
        }
        let there = try await steps(file(1), "a")
        #expect(there == ["true", "send", "true", "has", "1", "true", "send", "true", "send"])
        let absent = try await steps(file(2), "b")
        #expect(absent == there)
        await #expect(throws: StoreError.recordMissing) {
            try await it.locate([file(1)], of: sharedID("secret"), by: it.bobShared)
        }
        #expect(try await it.locate([file(1)], of: sharedID("a"), by: it.bobShared).count == 1)
        #expect(try await it.wrongUses() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a file of a record that a participant may read can be named by another`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        try await it.upload(file(1))
        _ = try await it.modify([save("list", ["f": .asset(file(1))])], policy: .changedKeys)
        let copies = ["a", "b"].map { Self.named($0, file(1), parent: "list") }
        #expect(try await it.modify(copies, by: it.bobShared).areSaved)
        // Two saves of one request share an upload.
        try await it.upload(file(2), by: it.bobShared)
        let both = ["c", "d"].map { Self.named($0, file(2), parent: "list") }
        #expect(try await it.modify(both, by: it.bobShared).areSaved)
        #expect(try Self.bytes(it) == ["2 2 200"])
        #expect(try await it.wrongUses() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `who may not write uploads nothing, and an upload gives no right to write`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind, .readOnly)
        let carol = try it.newUser("carol", 0xCA)
        await #expect(throws: StoreError.permissionDenied(.write)) {
            try await it.begin([file(1)], by: it.bobShared)
        }
        await #expect(throws: StoreError.zoneMissing) { try await it.begin([file(1)], by: carol) }
        var changes = ShareChanges()
        changes.participants = [participant(EngineUnderTest.bob, .readWrite)]
        try await it.changeShare("share", changes)
        try await it.upload(file(1), by: it.bobShared)
        changes.participants = [participant(EngineUnderTest.bob, .readOnly)]
        try await it.changeShare("share", changes)
        let outcome = try await it.modify(
            [Self.named("new", file(1), parent: "list")],
            by: it.bobShared
        )[0]
        #expect(outcome == .failed(.permissionDenied(.create)))
        #expect(try Self.bytes(it) == ["2 1 100"])
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds + 1)
        #expect(try await it.removals().count == 1)
        #expect(try Self.bytes(it) == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `what participants upload counts for the owner's quota`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind) { $0.quotas = StorageQuotas(userBytes: 100_000) }
        let large = file(1, size: 90_000)
        let refused = StoreError.quotaExceeded(Quota(of: .user, bytesMax: 100_000))
        await #expect(throws: refused) { try await it.begin([file(3, size: 100_000)], by: it.bobShared) }
        try await it.upload(large, by: it.bobShared)
        await #expect(throws: refused) { try await it.begin([file(2, size: 10_000)]) }
        #expect(try await it.begin([file(2, size: 90_000)], by: it.bobPrivately)[0].number != nil)
        #expect(try await it.modify([Self.named("new", large, parent: "list")], by: it.bobShared).areSaved)
        #expect(try await it.begin([large]) == [.complete])
    }
}
