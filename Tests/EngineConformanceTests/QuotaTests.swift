import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance

/// How many bytes may be stored: bodies of records, assets, and what rows take.
@Suite(.timeLimit(.minutes(10)))
struct QuotaTests {
    private static let smallest: [String: FieldValue] = ["n": .int64(1)]

    private static func body(_ count: Int) -> [String: FieldValue] {
        ["b": .bytes([UInt8](repeating: 1, count: count))]
    }

    private static let quarterOfAnHour: Int64 = 15 * 60 * 1_000

    /// What an asset takes of a quota.
    private static func taken(_ size: Int64) -> Int64 { size + Int64(RowBytes.asset(size)) }

    private static func ofUser(_ bytes: Int64) -> StoreError {
        .quotaExceeded(Quota(of: .user, bytesMax: bytes))
    }

    private static func ofContainer(_ bytes: Int64) -> StoreError {
        .quotaExceeded(Quota(of: .container, bytesMax: bytes))
    }

    private static func stored(_ it: EngineUnderTest, by user: String = "alice") throws -> Int64 {
        try it.store.directory.usage(ofContainer: EngineUnderTest.container).total(ofUser: user).bytes
    }

    @Test(arguments: EngineKind.allCases)
    func `a user stores as much as his quota has, and no row more`(kind: EngineKind) async throws {
        var it = try await EngineUnderTest.withNotes(kind)
        let first = try await it.modify([save("a", Self.body(1_000)), save("b", Self.body(1_000))])
        #expect(first.areSaved)
        #expect(try await it.modify([save("n", Self.smallest)]).areSaved)
        let full = try Self.stored(it)
        it = try await it.reopened { $0.quotas.userBytes = full }
        #expect(try await it.modify([save("c")])[0].error == Self.ofUser(full))
        #expect(try await it.modifyZones(["z"])[0].error == Self.ofUser(full))
        #expect(try Self.stored(it) == full)
        // What needs no room is saved, also beyond the quota.
        it = try await it.reopened { $0.quotas.userBytes = 10 }
        #expect(try await it.modify([save("a", tag: first[0].tag, Self.body(500))])[0].isSaved)
        let grown = [save("a", Self.body(1_000))]
        #expect(try await it.modify(grown, policy: .changedKeys)[0].error == Self.ofUser(10))
        #expect(try await it.modify([save("d")], by: it.bobPrivately)[0].error == .zoneMissing)
        it = try await it.reopened { $0.quotas.userBytes = full + 200 }
        let bobs = [save("d", in: .default, Self.smallest)]
        #expect(try await it.modify(bobs, by: it.bobPrivately)[0].isSaved)
        #expect(try await it.modify(grown, policy: .changedKeys)[0].isSaved)
        let again = try Self.stored(it)
        it = try await it.reopened { $0.quotas.userBytes = again }
        #expect(try await it.modify([save("e", Self.smallest)])[0].error == Self.ofUser(again))
        _ = try await it.modify([], deletes: [id("b")])
        #expect(try await it.modify([save("e", Self.smallest)])[0].isSaved)
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `an item beyond the quota fails alone, or with its zone`(kind: EngineKind) async throws {
        var it = try await EngineUnderTest.withNotes(kind)
        let quota = try Self.stored(it) + 2_000
        it = try await it.reopened { $0.quotas.userBytes = quota }
        let saves = [save("a", Self.body(1_000)), save("b", Self.body(2_000)), save("c")]
        let together = try await it.modify(saves)
        #expect(together.map(\.error) == [.atomicPeer(index: 1), Self.ofUser(quota), .atomicPeer(index: 1)])
        let request = it.newRequestID()
        let apart = try await it.modify(saves, isAtomic: false, id: request)
        #expect(apart.map(\.error) == [nil, Self.ofUser(quota), nil])
        #expect(try await it.modify(saves, isAtomic: false, id: request) == apart)
        let full = try Self.stored(it)
        it = try await it.reopened { $0.quotas.userBytes = full }
        // In the order of items: what the third would free makes no room for the others, and it
        // needs the first.
        let dependent = try await it.modify(
            [
                save("d", Self.body(1)), save("e", ["r": reference("d", .validate)]),
                save("a", ["r": reference("d", .validate), "b": .clear]),
            ],
            policy: .changedKeys,
            isAtomic: false
        )
        #expect(dependent.map(\.error) == [Self.ofUser(full), Self.ofUser(full), .dependsOn(index: 0)])
        #expect(try await it.record(id("a"))?["b"] == Self.body(1_000)["b"])
    }

    @Test(arguments: EngineKind.allCases)
    func `uploads are judged together, before a byte travels, and reserve what they need`(
        kind: EngineKind
    ) async throws {
        var it = try await EngineUnderTest.withNotes(kind)
        let quota = try Self.stored(it) + Self.taken(600) + Self.taken(400)
        it = try await it.reopened { $0.quotas.userBytes = quota }
        await #expect(throws: Self.ofUser(quota)) {
            try await it.begin([file(1, size: 600), file(2, size: 5_000)])
        }
        let numbers = try await it.begin([file(1, size: 600), file(2, size: 400)]).compactMap(\.number)
        #expect(numbers.count == 2)
        #expect(try await it.begin([file(2, size: 400)]) == [.incomplete(numbers[1])])
        await #expect(throws: Self.ofUser(quota)) { try await it.begin([file(3, size: 0)]) }
        #expect(try await it.modify([save("a", Self.smallest)])[0].error == Self.ofUser(quota))
        it.store.assets.abandon(numbers[1])
        try await it.complete(numbers[0])
        #expect(try await it.begin([file(1, size: 600), file(3, size: 400)])[0] == .complete)
        // What nobody names is given up when somebody needs its room, but not what is asked for.
        it.clock.advance(milliseconds: Self.quarterOfAnHour - 1)
        await #expect(throws: Self.ofUser(quota)) { try await it.begin([file(5, size: 1_000)]) }
        it.clock.advance(milliseconds: 1)
        await #expect(throws: Self.ofUser(quota)) {
            try await it.begin([file(1, size: 600), file(3, size: 400), file(5, size: 1_000)])
        }
        #expect(try await it.begin([file(1, size: 600)]) == [.complete])
        #expect(try await it.begin([file(5, size: 500)])[0].number != nil)
        #expect(try await it.begin([file(1, size: 600)]) == [.complete])
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a file counts while a record or a client wants it, and no longer`(kind: EngineKind) async throws {
        var it = try await EngineUnderTest.withNotes(kind)
        let quota = try Self.stored(it) + Self.taken(600) + 3_000
        it = try await it.reopened { $0.quotas.userBytes = quota }
        func named(_ number: Int) -> [String: FieldValue] { ["f": .asset(file(number, size: 600))] }
        try await it.upload(file(1, size: 600))
        #expect(try await it.modify([save("a", named(1))]).areSaved)
        await #expect(throws: Self.ofUser(quota)) { try await it.begin([file(2, size: 600)]) }
        _ = try await it.modify([], deletes: [id("a")])
        try await it.upload(file(2, size: 600))
        #expect(try await it.modify([save("b", named(2))]).areSaved)
        #expect(try await it.wrongCounters() == [])
        // The first is still there, and would count again.
        #expect(try await it.modify([save("c", named(1))])[0].error == Self.ofUser(quota))
        await #expect(throws: Self.ofUser(quota)) { try await it.begin([file(1, size: 600)]) }
        _ = try await it.modify([], deletes: [id("b")])
        #expect(try await it.begin([file(1, size: 600)]) == [.complete])
        #expect(try await it.wrongCounters() == [])
        #expect(try await it.modify([save("c", named(1))]).areSaved)
        #expect(try await it.wrongCounters() == [])
        #expect(try await it.wrongUses() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a container counts all its databases, a user both of his`(kind: EngineKind) async throws {
        var it = try EngineUnderTest(kind)
        _ = try it.requester(in: .production)
        let before = try it.store.directory.usage(ofContainer: EngineUnderTest.container)
        let unit = Self.taken(200)
        let ofUser = before.total(ofUser: "alice").bytes + 2 * unit + unit / 2
        let ofContainer = before.total.bytes + 4 * unit + unit / 2
        it = try await it.reopened {
            $0.quotas = StorageQuotas(userBytes: ofUser, containerBytes: ofContainer)
        }
        try await it.upload(file(1, size: 300), by: it.publicly)
        try await it.upload(file(1, size: 300))
        let production = try it.requester(in: .production)
        let large = file(3, size: 5_000)
        await #expect(throws: Self.ofUser(ofUser)) { try await it.begin([large], by: production) }
        try await it.upload(file(2, size: 200), by: production)
        // The public database is nobody's.
        for requester in [it.publicly, it.bobPrivately] {
            await #expect(throws: Self.ofContainer(ofContainer)) {
                try await it.begin([large], by: requester)
            }
        }
        try await it.upload(file(3, size: 200), by: it.bobPrivately)
        await #expect(throws: Self.ofContainer(ofContainer)) {
            try await it.begin([file(4, size: 1)], by: it.publicly)
        }
        let usage = try it.store.directory.usage(ofContainer: EngineUnderTest.container)
        #expect(usage.total.bytes <= ofContainer)
        #expect(usage.total.assetBytes == 1_000)
        #expect(usage.total.bytes - usage.total.rowBytes == 1_000)
        #expect(usage.total(ofUser: "alice").assets == 2)
        #expect(usage.total(ofUser: "alice").assetBytes == 500)
        #expect(usage.total(ofUser: "bob").assetBytes == 200)
        #expect(usage.databases.map(\.user) == [nil, nil, "alice", "alice", "bob"])
        #expect(throws: DirectoryError.containerMissing) {
            try it.store.directory.usage(ofContainer: "none")
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `many at once never store more than the quota`(kind: EngineKind) async throws {
        var it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("r0", Self.body(100))])
        let before = try Self.stored(it)
        _ = try await it.modify([save("r1", Self.body(100))])
        let step = try Self.stored(it) - before
        let quota = before + 12 * step
        it = try await it.reopened { $0.quotas.userBytes = quota }
        let results = await it.together((0..<30).map { [save("r\(10 + $0)", Self.body(100))] })
        let outcomes = try results.map { try $0.get()[0] }
        let saved = outcomes.filter(\.isSaved).count
        #expect((8...10).contains(saved), "beside the save that holds the writer")
        #expect(outcomes.filter { $0.error == Self.ofUser(quota) }.count == 30 - saved)
        let left = try quota - Self.stored(it)
        #expect(left >= 0)
        #expect(left < step + Int64(2 * RowBytes.outcomeItemMax), "the next would have fit")
    }

    @Test(arguments: EngineKind.allCases)
    func `random changes never go beyond, and are refused only when they would`(
        kind: EngineKind
    ) async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("QuotaTests: SEED=\(generator.seed)")
        var it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("first", Self.body(1))])
        let quotas = StorageQuotas(userBytes: 15_000, containerBytes: 25_000)
        it = try await it.reopened { $0.quotas = quotas }
        for round in 0..<kind.rounds(600) {
            let place: Comment = "round \(round) of seed \(generator.seed)"
            let requester = [it.privately, it.bobPrivately, it.publicly].randomElement(using: &generator)!
            let usage = try it.store.directory.usage(ofContainer: EngineUnderTest.container)
            let user = requester == it.privately ? "alice" : requester == it.publicly ? nil : "bob"
            let left = min(
                quotas.containerBytes - usage.total.bytes,
                user.map { quotas.userBytes - usage.total(ofUser: $0).bytes } ?? .max
            )
            let name = "r\(Int.random(in: 0..<8, using: &generator))"
            switch Int.random(in: 0..<6, using: &generator) {
            case 0..<3:
                let count = Int.random(in: 0..<2_000, using: &generator)
                let outcome = try await it.modify(
                    [save(name, in: .default, Self.body(count))],
                    policy: .changedKeys,
                    by: requester
                )[0]
                // Rows of the record and the outcome, and entries for its name and dates.
                if !outcome.isSaved { #expect(left < count + 500, place) }
            case 3:
                _ = try await it.modify([], deletes: [id(name, in: .default)], by: requester)
            case 4:
                let asset = file(round, size: Int64.random(in: 0..<2_000, using: &generator))
                do {
                    try await it.upload(asset, by: requester)
                } catch {
                    #expect(left < Self.taken(asset.size), place)
                }
            default:
                it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds / 5)
                _ = try await it.removals(limit: 2)
            }
            let after = try it.store.directory.usage(ofContainer: EngineUnderTest.container)
            #expect(after.total.bytes <= max(quotas.containerBytes, usage.total.bytes), place)
            if let user {
                let bound = max(quotas.userBytes, usage.total(ofUser: user).bytes)
                #expect(after.total(ofUser: user).bytes <= bound, place)
            }
            if round % 150 == 149 {
                #expect(try await it.wrongCounters() == [], place)
                it = try await it.reopened { $0.quotas = quotas }
            }
        }
    }
}
