import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// What has no bytes of its own takes room all the same, and counts.
@Suite(.timeLimit(.minutes(10)))
struct QuotaRowTests {
    private static func stored(_ it: EngineUnderTest) throws -> Int64 {
        try it.store.directory.usage(ofContainer: EngineUnderTest.container).total(ofUser: "alice").bytes
    }

    /// An engine whose user has so much room left.
    private static func engine(_ kind: EngineKind, left: Int64) async throws -> (EngineUnderTest, Int64) {
        let it = try await EngineUnderTest.withNotes(kind)
        let quota = try self.stored(it) + left
        return (try await it.reopened { $0.quotas.userBytes = quota }, quota)
    }

    private static func names(_ batch: Int) -> [String] { (0..<400).map { "\(batch)-\($0)" } }

    /// Sends batches until something is refused for the quota; how many items took effect.
    private static func fill(
        _ it: EngineUnderTest,
        _ quota: Int64,
        batches: Int,
        _ send: (Int) async throws -> [WriteOutcome]
    ) async throws -> Int {
        let refused = StoreError.quotaExceeded(Quota(of: .user, bytesMax: quota))
        var count = 0
        for batch in 0..<batches {
            let before = try self.stored(it)
            let errors = try await send(batch).compactMap(\.error)
            #expect(errors.allSatisfy { $0 == refused })
            #expect(try self.stored(it) <= quota)
            count += 400 - errors.count
            guard errors.isEmpty else { return count }
            #expect(try self.stored(it) > before)
        }
        Issue.record("nothing was refused")
        return count
    }

    @Test(arguments: EngineKind.allCases)
    func `records without fields use a quota up`(kind: EngineKind) async throws {
        let (it, quota) = try await Self.engine(kind, left: 300_000)
        let count = try await Self.fill(it, quota, batches: 15) { batch in
            try await it.modify(Self.names(batch).map { save($0) }, isAtomic: false)
        }
        #expect((500..<3_000).contains(count))
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `records that are made and deleted use a quota up`(kind: EngineKind) async throws {
        let (it, quota) = try await Self.engine(kind, left: 200_000)
        let count = try await Self.fill(it, quota, batches: 15) { batch in
            let outcomes = try await it.modify(Self.names(batch).map { save($0) }, isAtomic: false)
            let saved = zip(Self.names(batch), outcomes).filter { $1.isSaved }.map { id($0.0) }
            // A delete is never refused.
            #expect(try await it.modify([], deletes: saved).allSatisfy { $0.error == nil })
            return outcomes
        }
        #expect((500..<4_000).contains(count))
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `zones use a quota up`(kind: EngineKind) async throws {
        let (it, quota) = try await Self.engine(kind, left: 80_000)
        let count = try await Self.fill(it, quota, batches: 5) { batch in
            try await it.modifyZones(Self.names(batch))
        }
        #expect((200..<1_000).contains(count))
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `zones that are made and deleted use a quota up`(kind: EngineKind) async throws {
        let (it, quota) = try await Self.engine(kind, left: 80_000)
        let count = try await Self.fill(it, quota, batches: 20) { batch in
            let outcomes = try await it.modifyZones(Self.names(batch))
            let made = zip(Self.names(batch), outcomes).filter { $1.error == nil }.map { $0.0 }
            #expect(try await it.modifyZones([], deletes: made).allSatisfy { $0 == .deleted })
            return outcomes
        }
        #expect((400..<4_000).contains(count))
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `saves of one small record use a quota up, by their outcomes`(kind: EngineKind) async throws {
        var (it, quota) = try await Self.engine(kind, left: 30_000)
        #expect(try await it.modify([save("a")]).areSaved)
        let refused = StoreError.quotaExceeded(Quota(of: .user, bytesMax: quota))
        var count = 0
        while count < 2_000, try await it.modify([save("a")], policy: .changedKeys)[0].error != refused {
            count += 1
        }
        #expect((200..<1_000).contains(count))
        // What changes nothing leaves nothing.
        let stored = try Self.stored(it)
        for name in Self.names(0).prefix(50) { _ = try await it.modify([], deletes: [id(name)]) }
        #expect(try Self.stored(it) == stored)
        // Nobody writes: outcomes that are too old to be asked for go while the writer waits.
        it.clock.advance(milliseconds: 3_600_001)
        try await it.waitUntilEmpty(RequestRow.self)
        #expect(try await it.modify([save("b")])[0].isSaved)
        #expect(try await it.wrongCounters() == [])
        it = try await it.reopened { $0.quotas.userBytes = 10 }
        let subscription = try await it.modifySubscriptions([databaseSubscription("d")])
        #expect(subscription[0].error == .quotaExceeded(Quota(of: .user, bytesMax: 10)))
        #expect(try await it.modify([], deletes: [id("a"), id("b")]) == [.deleted, .deleted])
    }

    @Test(arguments: EngineKind.allCases)
    func `words of the full text use a quota up`(kind: EngineKind) async throws {
        let (it, quota) = try await Self.engine(kind, left: 300_000)
        let refused = StoreError.quotaExceeded(Quota(of: .user, bytesMax: quota))
        var errors: [StoreError] = []
        for round in 0..<40 where errors.isEmpty {
            let words = (0..<400).map { String(round * 400 + $0, radix: 36) }.joined(separator: " ")
            let saves = (0..<20).map { save("w\(round)-\($0)", ["t": .string(words)]) }
            errors = try await it.modify(saves, isAtomic: false).compactMap(\.error)
        }
        #expect(!errors.isEmpty && errors.allSatisfy { $0 == refused })
        #expect(try Self.stored(it) <= quota)
        #expect(try await it.wrongCounters() == [])
    }
}
