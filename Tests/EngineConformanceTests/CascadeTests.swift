import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance

/// Deletes that take along more than one transaction deletes (`Protocol/README.md`, section 5.2).
///
/// `SEED=… swift test --filter CascadeTests` repeats a run.
@Suite(.timeLimit(.minutes(10)))
struct CascadeTests {
    private static let turn = 3

    private static func engine(
        _ kind: EngineKind,
        configure: (inout EngineSettings) -> Void = { _ in }
    ) async throws -> EngineUnderTest {
        try await EngineUnderTest.withNotes(kind) { settings in
            settings.bounds.cascadeTurnMax = Self.turn
            settings.bounds.cascadeTogetherMax = Self.turn
            configure(&settings)
        }
    }

    /// Each refers to the one before it, which it goes with.
    private static func chain(_ count: Int, in zone: ZoneID = notes) -> [RecordSave] {
        (0..<count).map { number in
            let fields = number == 0 ? [:] : ["d": reference("c\(number - 1)", .deleteSelf)]
            return save("c\(number)", in: zone, fields)
        }
    }

    private static func chainNames(_ count: Int) -> [RecordID] { (0..<count).map { id("c\($0)") } }

    /// Those that are there, and whether none of them refers to one that is not.
    private static func present(
        _ ids: [RecordID],
        _ it: EngineUnderTest,
        _ place: Comment = ""
    ) async throws -> Set<String> {
        var records: [Record] = []
        for outcome in try await it.fetch(ids) {
            if case .record(let record) = outcome { records.append(record) }
        }
        let names = Set(records.map(\.id.recordName))
        for record in records {
            for field in ["d", "e", "v"] {
                guard case .reference(let reference)? = record[field] else { continue }
                #expect(names.contains(reference.recordName), place)
            }
            if let parent = record.parent { #expect(names.contains(parent), place) }
        }
        return names
    }

    @Test(arguments: EngineKind.allCases)
    func `what goes in turns is what would go at once`(kind: EngineKind) async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let cut = try await Self.engine(kind)
        let whole = try await EngineUnderTest.withNotes(kind)
        var turns = 0
        for round in 0..<60 {
            let place: Comment = "round \(round) of seed \(generator.seed)"
            let zone = "z\(round)"
            _ = try await cut.modifyZones([zone])
            _ = try await whole.modifyZones([zone])
            let saves = Self.randomSaves(in: ZoneID(zoneName: zone), &generator)
            #expect(try await cut.modify(saves).areSaved, place)
            #expect(try await whole.modify(saves).areSaved, place)
            let ids = saves.map(\.id)
            let count = Int.random(in: 0...2, using: &generator)
            let others = ids.dropFirst(2).shuffled(using: &generator).prefix(count)
            let deletes = [ids[Int.random(in: 0..<2, using: &generator)]] + others
            let isAtomic = Bool.random(using: &generator)
            let before = try await Self.present(ids, cut, place)
            let commits = cut.store.statistics.commits
            let outcomes = try await cut.modify([], deletes: deletes, isAtomic: isAtomic)
            let left = try await Self.present(ids, cut, place)
            if cut.store.statistics.commits > commits + 1 { turns += 1 }
            if outcomes.contains(where: { $0.error?.isReferenceLimit ?? false }) {
                // A circle that is larger than a turn: nothing goes.
                if isAtomic { #expect(left == before, place) }
                continue
            }
            #expect(try await whole.modify([], deletes: deletes, isAtomic: isAtomic) == outcomes, place)
            #expect(try await Self.present(ids, whole, place) == left, place)
        }
        #expect(turns > 5)
    }

    /// A forest of records that go with each other, with some that keep others, and now and then a
    /// reference back that closes a circle.
    private static func randomSaves(
        in zone: ZoneID,
        _ generator: inout SeededGenerator
    ) -> [RecordSave] {
        let count = Int.random(in: 5...30, using: &generator)
        let hasCircles = Int.random(in: 0..<3, using: &generator) == 0
        return (0..<count).map { number in
            var fields: [String: FieldValue] = [:]
            var parent = RecordSave.ParentChange.unchanged
            if number > 0, Int.random(in: 0..<10, using: &generator) > 0 {
                let target = Int.random(in: max(0, number - 4)..<number, using: &generator)
                fields["d"] = reference("r\(target)", .deleteSelf)
            }
            if hasCircles, Int.random(in: 0..<8, using: &generator) == 0 {
                fields["e"] = reference("r\(Int.random(in: 0..<count, using: &generator))", .deleteSelf)
            }
            if number > 0, Int.random(in: 0..<20, using: &generator) == 0 {
                fields["v"] = reference("r\(Int.random(in: 0..<number, using: &generator))", .validate)
            }
            if number > 0, Int.random(in: 0..<20, using: &generator) == 0 {
                parent = .set(recordName: "r\(Int.random(in: 0..<number, using: &generator))")
            }
            return save("r\(number)", in: zone, fields, parent: parent)
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `others are served between two turns, and a replay finds the outcome`(kind: EngineKind) async throws
    {
        let it = try await Self.engine(kind)
        #expect(try await it.modify(Self.chain(40)).areSaved)
        _ = try await it.modify([save("mine", in: .default)], by: it.bobPrivately)
        let deletion = WriteRequest.Operation.modifyRecords(
            ModifyRecords(scope: .private, saves: [save("new")], deletes: [id("c0")])
        )
        let request = it.request(deletion)
        let other = it.request(
            .modifyRecords(ModifyRecords(scope: .private, saves: [save("next", in: .default)])),
            by: it.bobPrivately
        )
        let order = Mutex<[String]>([])
        let gate = Gate()
        let held = Gate()
        it.send([save("holds the writer", in: .default)]) { _ in
            held.open()
            gate.wait()
        }
        held.wait()
        let outcomes = await withCheckedContinuation { continuation in
            it.store.write(request) { result in
                order.withLock { $0.append("alice") }
                continuation.resume(returning: result)
            }
            it.store.write(other) { _ in order.withLock { $0.append("bob") } }
            gate.open()
        }
        #expect(order.withLock { $0 } == ["bob", "alice"])
        #expect(try outcomes.get().map { $0.error == nil } == [true, true])
        #expect(try await Self.present(Self.chainNames(40), it).isEmpty)
        let replay = await withCheckedContinuation { continuation in
            it.store.write(request) { continuation.resume(returning: $0) }
        }
        #expect(replay == outcomes)
    }

    @Test(arguments: EngineKind.allCases, [1, 3, 8, 14])
    func `after an end between two turns nothing dangles, and the request sent again completes`(
        kind: EngineKind,
        turns: Int
    ) async throws {
        let left = Mutex<Int?>(nil)
        var it = try await Self.engine(kind) { settings in
            settings.syncFile = { _ in
                left.withLock { left in
                    guard let count = left else { return 0 }
                    left = count - 1
                    return count > 0 ? 0 : 5
                }
            }
        }
        #expect(try await it.modify(Self.chain(40)).areSaved)
        let request = it.newRequestID()
        left.withLock { $0 = turns }
        await #expect(throws: StoreError.self) { try await it.modify([], deletes: [id("c0")], id: request) }
        it = try await it.reopened { settings in
            settings.bounds.cascadeTurnMax = Self.turn
            settings.bounds.cascadeTogetherMax = Self.turn
        }
        let there = try await Self.present(Self.chainNames(40), it)
        #expect(there.contains("c0"))
        // The first turns look for what goes.
        #expect(there.count < 40 || turns < 8)
        #expect(try await it.modify([], deletes: [id("c0")], id: request) == [.deleted])
        #expect(try await Self.present(Self.chainNames(40), it).isEmpty)
    }

    /// A disk that stops after so many syncs from a moment on, until it may go on.
    private final class StoppingDisk: Sendable {
        let reached = Gate()
        let gate = Gate()
        private let left = Mutex<Int?>(nil)

        func stop(after syncs: Int) { self.left.withLock { $0 = syncs } }

        func sync() -> Int32 {
            let isNow = self.left.withLock { left in
                guard let count = left else { return false }
                left = count - 1
                return count == 0
            }
            if isNow {
                self.reached.open()
                self.gate.wait()
            }
            return 0
        }
    }

    @Test(arguments: EngineKind.allCases, [0, 1, 3, 5, 9, 14])
    func `a reference that comes between two turns is not lost`(kind: EngineKind, turns: Int) async throws {
        for action in [Reference.Action.deleteSelf, .validate] {
            let disk = StoppingDisk()
            let it = try await Self.engine(kind) { $0.syncFile = { _ in disk.sync() } }
            #expect(try await it.modify(Self.chain(40)).areSaved)
            try await it.join(try await it.share(nil, named: ShareRecord.zoneWideName), by: it.bobShared)
            let deletion = ModifyRecords(scope: .private, saves: [], deletes: [id("c0")])
            let addition = ModifyRecords(
                scope: .shared,
                saves: [save("late", in: aliceNotes, ["d": reference("c0", action)])]
            )
            let results = Mutex<[String: Result<[WriteOutcome], StoreError>]>([:])
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                @Sendable func ended(_ who: String, _ result: Result<[WriteOutcome], StoreError>) {
                    let count = results.withLock { results in
                        results[who] = result
                        return results.count
                    }
                    if count == 2 { continuation.resume() }
                }
                disk.stop(after: turns)
                it.store.write(it.request(.modifyRecords(deletion))) { ended("alice", $0) }
                disk.reached.wait()
                it.store.write(it.request(.modifyRecords(addition), by: it.bobShared)) { ended("bob", $0) }
                disk.gate.open()
            }
            #expect(try results.withLock { $0["bob"] }?.get().areSaved == true)
            let left = try await Self.present(Self.chainNames(40) + [id("late")], it)
            let outcomes = try results.withLock { $0["alice"] }?.get()
            if action == .deleteSelf {
                #expect(outcomes == [.deleted])
                #expect(left.isEmpty)
            } else {
                #expect(outcomes == [.failed(.referenceWouldDangle(referrer: "late"))])
                #expect(left.isSuperset(of: ["c0", "late"]))
            }
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `what is refused after a long walk leaves everything, and the others go`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.engine(kind)
        let tree = (0..<20).map {
            save("b\($0)", ["d": reference($0 == 0 ? "b" : "b\($0 - 1)", .deleteSelf)])
        }
        #expect(try await it.modify([save("b")] + tree + Self.chain(20)).areSaved)
        #expect(try await it.modify([save("keeper", ["v": reference("b19", .validate)])]).areSaved)
        let deletes = [id("b"), id("c0"), id("b5")]
        let kept = WriteOutcome.failed(.referenceWouldDangle(referrer: "keeper"))
        let atomic = try await it.modify([], deletes: deletes)
        #expect(atomic == [kept, .failed(.atomicPeer(index: 0)), kept])
        let ofTree = [id("b"), id("keeper")] + tree.map(\.id)
        #expect(try await Self.present(Self.chainNames(20) + ofTree, it).count == 42)
        let each = try await it.modify([], deletes: deletes, isAtomic: false)
        #expect(each == [kept, .deleted, kept])
        #expect(try await Self.present(Self.chainNames(20), it).isEmpty)
        #expect(try await Self.present(ofTree, it).count == 22)
        // With the keeper all of it goes.
        let all = try await it.modify([], deletes: [id("b"), id("keeper")])
        #expect(all == [.deleted, .deleted])
        #expect(try await Self.present(ofTree, it).isEmpty)
    }

    @Test(arguments: EngineKind.allCases)
    func `cascades of several zones go in turns before anything of the request is executed`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.engine(kind)
        _ = try await it.modifyZones(["others"])
        let others = ZoneID(zoneName: "others")
        #expect(try await it.modify(Self.chain(20) + Self.chain(20, in: others)).areSaved)
        let deletes = [id("c0"), id("c0", in: others)]
        let outcomes = try await it.modify([save("new")], deletes: deletes)
        #expect(outcomes.map { $0.error == nil } == [true, true, true])
        let inOthers = (0..<20).map { id("c\($0)", in: others) }
        #expect(try await Self.present(Self.chainNames(20) + inOthers, it).isEmpty)
    }

    @Test(arguments: EngineKind.allCases)
    func `a cascade that cannot be cut is refused, and nothing of it goes`(kind: EngineKind) async throws {
        let it = try await Self.engine(kind)
        #expect(try await it.modify(Self.chain(10)).areSaved)
        // The farthest is saved in the request itself.
        let saved = try await it.modify([save("c9x", ["d": reference("c9", .deleteSelf)])])
        #expect(saved.areSaved)
        let change = save("c9", ["n": .int64(1)])
        let refused = try await it.modify([change], deletes: [id("c0")], policy: .changedKeys)
        #expect(refused[1] == .failed(.referenceLimit(target: "c0")))
        // All refer to each other.
        let circle = save("c0", ["d": reference("c9", .deleteSelf)])
        #expect(try await it.modify([circle], policy: .changedKeys).areSaved)
        #expect(try await it.modify([], deletes: [id("c5")]) == [.failed(.referenceLimit(target: "c5"))])
        #expect(try await Self.present(Self.chainNames(10), it).count == 10)
        // Opened at one place it goes.
        let opened = save("c0", ["d": .clear])
        #expect(try await it.modify([opened], policy: .changedKeys).areSaved)
        #expect(try await it.modify([], deletes: [id("c0")]) == [.deleted])
        #expect(try await Self.present(Self.chainNames(10), it).isEmpty)
    }

    /// A named record that goes with a piece brings no step to the last transaction.
    @Test(arguments: EngineKind.allCases, [(4, true), (5, false)])
    func `named records that go early leave the rest no room of theirs`(
        kind: EngineKind,
        circle: (count: Int, fits: Bool)
    ) async throws {
        let it = try await Self.engine(kind)
        #expect(try await it.modify(Self.chain(circle.count)).areSaved)
        let closing = save("c0", ["d": reference("c\(circle.count - 1)", .deleteSelf)])
        #expect(try await it.modify([closing], policy: .changedKeys).areSaved)
        let pair = [save("target"), save("referrer", ["d": reference("target", .deleteSelf)])]
        #expect(try await it.modify(pair).areSaved)
        let outcomes = try await it.modify([], deletes: [id("c0"), id("target"), id("referrer")])
        let all = Self.chainNames(circle.count) + pair.map(\.id)
        let left = try await Self.present(all, it)
        if circle.fits {
            #expect(outcomes == [.deleted, .deleted, .deleted])
            #expect(left.isEmpty)
        } else {
            #expect(outcomes.allSatisfy { $0.error != nil })
            #expect(left.count == all.count)
        }
    }
}

extension StoreError {
    fileprivate var isReferenceLimit: Bool {
        if case .referenceLimit = self { true } else { false }
    }
}
