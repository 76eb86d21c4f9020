import RecordModel
import RecordStore
import Synchronization
import TestSupport
import Testing

/// How many bytes may be stored: bodies of records and assets.
@Suite(.timeLimit(.minutes(5)))
struct QuotaTests {
    private static func body(_ count: Int) -> [String: FieldValue] {
        ["b": .bytes([UInt8](repeating: 1, count: count))]
    }

    private static func bytes(_ count: Int) -> Int64 {
        Int64(RecordBody([Field(name: "b", value: Self.body(count)["b"]!)]).bytes.count)
    }

    private static func ofUser(_ bytes: Int64) -> StoreError {
        .quotaExceeded(Quota(of: .user, bytesMax: bytes))
    }

    private static func ofContainer(_ bytes: Int64) -> StoreError {
        .quotaExceeded(Quota(of: .container, bytesMax: bytes))
    }

    @Test(arguments: EngineKind.allCases)
    func `a user stores as much as his quota has, to the byte`(kind: EngineKind) async throws {
        let quota = 2 * Self.bytes(1_000)
        var it = try await EngineUnderTest.withNotes(kind) { $0.quotas.userBytes = quota }
        let first = try await it.modify([save("a", Self.body(1_000)), save("b", Self.body(1_000))])
        #expect(first.areSaved)
        let smallest: [String: FieldValue] = ["n": .int64(1)]
        #expect(try await it.modify([save("c", smallest)])[0].error == Self.ofUser(quota))
        // What needs no room is saved, also beyond the quota.
        #expect(try await it.modify([save("c")])[0].isSaved)
        it = try await it.reopened { $0.quotas.userBytes = 10 }
        #expect(try await it.modify([save("a", tag: first[0].tag, Self.body(999))])[0].isSaved)
        let grown = [save("a", Self.body(1_000))]
        #expect(try await it.modify(grown, policy: .changedKeys)[0].error == Self.ofUser(10))
        #expect(try await it.modify([save("d", smallest)], by: it.bobPrivately)[0].error == .zoneMissing)
        let bobs = [save("d", in: .default, smallest)]
        #expect(try await it.modify(bobs, by: it.bobPrivately)[0].isSaved)
        it = try await it.reopened { $0.quotas.userBytes = quota }
        #expect(try await it.modify(grown, policy: .changedKeys)[0].isSaved)
        _ = try await it.modify([], deletes: [id("b")])
        #expect(try await it.modify([save("e", smallest)])[0].isSaved)
        #expect(try await wrongCounters(in: it.folder) == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `an item beyond the quota fails alone, or with its zone`(kind: EngineKind) async throws {
        let quota = Self.bytes(1_000)
        let it = try await EngineUnderTest.withNotes(kind) { $0.quotas.userBytes = quota }
        let saves = [save("a", Self.body(1_000)), save("b", Self.body(1)), save("c")]
        let together = try await it.modify(saves)
        #expect(together.map(\.error) == [.atomicPeer(index: 1), Self.ofUser(quota), .atomicPeer(index: 1)])
        let request = it.newRequestID()
        let apart = try await it.modify(saves, isAtomic: false, id: request)
        #expect(apart.map(\.error) == [nil, Self.ofUser(quota), nil])
        #expect(try await it.modify(saves, isAtomic: false, id: request) == apart)
        // In the order of items: what the third would free makes no room for the others, and it needs the first.
        let dependent = try await it.modify(
            [
                save("d", Self.body(1)), save("e", ["r": reference("d", .validate)]),
                save("a", ["r": reference("d", .validate), "b": .clear]),
            ],
            policy: .changedKeys,
            isAtomic: false
        )
        #expect(dependent.map(\.error) == [Self.ofUser(quota), Self.ofUser(quota), .dependsOn(index: 0)])
        #expect(try await it.record(id("a"))?["b"] == Self.body(1_000)["b"])
    }

    @Test(arguments: EngineKind.allCases)
    func `uploads are judged together, before a byte travels, and reserve what they need`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { $0.quotas.userBytes = 1_000 }
        await #expect(throws: Self.ofUser(1_000)) {
            try await it.begin([file(1, size: 600), file(2, size: 401)])
        }
        let numbers = try await it.begin([file(1, size: 600), file(2, size: 400)]).compactMap(\.number)
        #expect(numbers.count == 2)
        #expect(try await it.begin([file(2, size: 400)]) == [.incomplete(numbers[1])])
        await #expect(throws: Self.ofUser(1_000)) { try await it.begin([file(3, size: 1)]) }
        #expect(try await it.modify([save("a", ["n": .int64(1)])])[0].error == Self.ofUser(1_000))
        #expect(try await it.begin([file(4, size: 0)])[0].number != nil)
        it.engine.assets.abandon(numbers[1])
        try await it.complete(numbers[0])
        #expect(try await it.begin([file(1, size: 600), file(3, size: 400)])[0] == .complete)
        // Due assets count until they are marked.
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        await #expect(throws: Self.ofUser(1_000)) { try await it.begin([file(5, size: 1)]) }
        _ = try await it.removals()
        #expect(try await it.begin([file(5, size: 1_000)])[0].number != nil)
        #expect(try await wrongCounters(in: it.folder) == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a container counts all its databases, a user both of his`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind) {
            $0.quotas = StorageQuotas(userBytes: 500, containerBytes: 1_000)
        }
        try await it.upload(file(1, size: 300), by: it.publicly)
        try await it.upload(file(1, size: 300))
        let production = try it.requester(in: .production)
        await #expect(throws: Self.ofUser(500)) { try await it.begin([file(2, size: 201)], by: production) }
        try await it.upload(file(2, size: 200), by: production)
        // The public database is nobody's.
        await #expect(throws: Self.ofContainer(1_000)) {
            try await it.begin([file(3, size: 201)], by: it.publicly)
        }
        await #expect(throws: Self.ofContainer(1_000)) {
            try await it.begin([file(3, size: 201)], by: it.bobPrivately)
        }
        try await it.upload(file(3, size: 200), by: it.bobPrivately)
        let usage = try it.engine.directory.usage(ofContainer: EngineUnderTest.container)
        #expect(usage.total.bytes == 1_000)
        #expect(
            usage.total(ofUser: "alice")
                == StoredAmount(records: 2, recordBytes: 0, assets: 2, assetBytes: 500)
        )
        #expect(
            usage.total(ofUser: "bob") == StoredAmount(records: 1, recordBytes: 0, assets: 1, assetBytes: 200)
        )
        #expect(usage.databases.map(\.user) == [nil, nil, "alice", "alice", "bob"])
        #expect(throws: DirectoryError.containerMissing) {
            try it.engine.directory.usage(ofContainer: "none")
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `many at once never store more than the quota`(kind: EngineKind) async throws {
        let size = Self.bytes(100)
        let quota = 10 * size + size / 2
        let it = try await EngineUnderTest.withNotes(kind) { $0.quotas.userBytes = quota }
        let results = await it.together((0..<30).map { [save("r\($0)", Self.body(100))] })
        let outcomes = try results.map { try $0.get()[0] }
        #expect(outcomes.filter(\.isSaved).count == 10)
        #expect(outcomes.filter { $0.error == Self.ofUser(quota) }.count == 20)
    }

    @Test(arguments: EngineKind.allCases)
    func `random changes are refused exactly when they would go beyond`(kind: EngineKind) async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("QuotaTests: SEED=\(generator.seed)")
        let quotas = StorageQuotas(userBytes: 6_000, containerBytes: 10_000)
        var it = try await EngineUnderTest.withNotes(kind) { $0.quotas = quotas }
        var sizes: [String: Int64] = [:]
        for round in 0..<600 {
            let place: Comment = "round \(round) of seed \(generator.seed)"
            let requester = [it.privately, it.bobPrivately, it.publicly].randomElement(using: &generator)!
            let usage = try it.engine.directory.usage(ofContainer: EngineUnderTest.container)
            let user = requester == it.privately ? "alice" : requester == it.publicly ? nil : "bob"
            let left = min(
                quotas.containerBytes - usage.total.bytes,
                user.map { quotas.userBytes - usage.total(ofUser: $0).bytes } ?? .max
            )
            let name = "r\(Int.random(in: 0..<8, using: &generator))"
            let key = "\(requester.database.rawValue) \(name)"
            switch Int.random(in: 0..<6, using: &generator) {
            case 0..<3:
                let count = Int.random(in: 0..<2_000, using: &generator)
                let growth = Self.bytes(count) - sizes[key, default: 0]
                let outcome = try await it.modify(
                    [save(name, in: .default, Self.body(count))],
                    policy: .changedKeys,
                    by: requester
                )[0]
                #expect(outcome.isSaved == (growth <= 0 || growth <= left), place)
                if outcome.isSaved { sizes[key] = Self.bytes(count) }
            case 3:
                _ = try await it.modify([], deletes: [id(name, in: .default)], by: requester)
                sizes[key] = nil
            case 4:
                let asset = file(round, size: Int64.random(in: 0..<2_000, using: &generator))
                if asset.size <= left {
                    try await it.upload(asset, by: requester)
                } else {
                    await #expect(throws: StoreError.self, place) {
                        try await it.begin([asset], by: requester)
                    }
                }
            default:
                it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds / 5)
                _ = try await it.removals(limit: 2)
            }
            let after = try it.engine.directory.usage(ofContainer: EngineUnderTest.container)
            #expect(after.total.bytes <= quotas.containerBytes, place)
            if round % 150 == 149 {
                #expect(try await wrongCounters(in: it.folder) == [], place)
                it = try await it.reopened { $0.quotas = quotas }
            }
        }
    }
}
