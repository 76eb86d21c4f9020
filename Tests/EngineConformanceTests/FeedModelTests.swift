import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Random writes, and readers that page, stop, and go on from old tokens.
///
/// `SEED=… swift test --filter FeedModelTests` repeats a run.
@Suite(.timeLimit(.minutes(10)))
struct FeedModelTests {
    private static let names = (0..<24).map { "r\($0)" }

    @Test(arguments: EngineKind.allCases, [20_000, 5])
    func `every reader ends with what was committed and sees no child before its parent`(
        kind: EngineKind,
        readsMax: Int
    ) async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        var it = try await EngineUnderTest.withNotes(kind) { $0.feedReadsMax = readsMax }
        var followers = Array(repeating: Follower(), count: 6)
        // Of each reader its own, of which it still has the state or a later one.
        var bookmarks = Array(repeating: [Follower](), count: 6)
        for round in 0..<kind.rounds(1_200) {
            let place: Comment = "round \(round) of seed \(generator.seed)"
            try await Self.write(it, &generator)
            let number = Int.random(in: followers.indices, using: &generator)
            var follower = followers[number]
            do throws(StoreError) {
                try await follower.follow(it, limit: Int.random(in: 1...6, using: &generator))
            } catch {
                #expect(error == .zoneMissing || error == .changeTokenExpired, place)
                follower = Follower()
                follower.order = Bool.random(using: &generator) ? .creation : .newestFirst
            }
            if follower.token == nil { bookmarks[number] = [] }
            #expect(follower.orphans == [], place)
            if follower.isThrough, follower.token != nil {
                #expect(try await follower.records == Self.truth(it), place)
            }
            if Int.random(in: 0..<8, using: &generator) == 0 { bookmarks[number].append(follower) }
            if Int.random(in: 0..<20, using: &generator) == 0,
                let place = bookmarks[number].indices.randomElement(using: &generator)
            {
                // What came since may be forgotten or not.
                let old = bookmarks[number][place]
                if Bool.random(using: &generator) || old.token == nil {
                    follower.records = old.records
                    bookmarks[number].removeSubrange((place + 1)...)
                }
                follower.token = old.token
                follower.order = old.order
            }
            followers[number] = follower
            if round % 400 == 399 { it = try await it.reopened() }
            if round % 100 == 99 { #expect(try await it.wrongCounters() == [], place) }
        }
        let ends = followers + bookmarks.flatMap { $0.suffix(8) }
        for follower in ends {
            let last = try await Self.end(of: follower, it, &generator)
            #expect(last.orphans == [], "seed \(generator.seed)")
            #expect(try await last.records == Self.truth(it), "seed \(generator.seed)")
        }
    }

    /// Everybody reads everything there but the records of other users.
    @Test(arguments: EngineKind.allCases)
    func `in the public database every reader ends with what is theirs to be told`(
        kind: EngineKind
    ) async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        var it = try EngineUnderTest(kind) { $0.feedReadsMax = 30 }
        var users = [EngineUnderTest.alice, EngineUnderTest.bob]
        var followers = [it.publicly, it.bobPublicly, it.anonymously].map { requester in
            var follower = Follower()
            follower.zone = .default
            follower.requester = requester
            return follower
        }
        followers += followers
        for number in 3..<6 { followers[number].order = .newestFirst }
        for round in 0..<kind.rounds(600) {
            let place: Comment = "round \(round) of seed \(generator.seed)"
            let writer = [it.publicly, it.bobPublicly].randomElement(using: &generator)!
            switch Int.random(in: 0..<12, using: &generator) {
            case 0: users.append(try it.newUser("user\(round)", 0x1000 + round).userRecordName!)
            case 1...3:
                let field: [String: FieldValue] = ["n": .int64(Int64(round))]
                let own = save(writer.userRecordName!, in: .default, type: "Users", field)
                #expect(try await it.modify([own], policy: .changedKeys, by: writer).areSaved, place)
            default: try await Self.write(it, in: .default, by: writer, dropsZones: false, &generator)
            }
            let number = Int.random(in: followers.indices, using: &generator)
            try await followers[number].follow(it, limit: Int.random(in: 1...6, using: &generator))
            #expect(followers[number].orphans == [], place)
            if round % 200 == 199 { it = try await it.reopened() }
        }
        for follower in followers {
            var follower = follower
            repeat { try await follower.follow(it, limit: 3) } while !follower.isThrough
            let own = follower.requester?.userRecordName
            let truth = try await Self.truth(it, users: users.filter { $0 == own }, by: follower.requester)
            #expect(follower.records == truth, "seed \(generator.seed)")
            #expect(follower.orphans == [], "seed \(generator.seed)")
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `readers that page while others write miss nothing`(kind: EngineKind) async throws {
        let seed = SeededGenerator.fromEnvironment().seed
        print("SEED=\(seed)")
        let it = try await EngineUnderTest.withNotes(kind)
        let followers = try await withThrowingTaskGroup(of: Follower?.self) { group in
            for number in 0..<4 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &+ UInt64(number))
                    for _ in 0..<300 { try await Self.write(it, dropsZones: false, &generator) }
                    return nil
                }
                group.addTask {
                    var generator = SeededGenerator(seed: seed &+ UInt64(100 + number))
                    var follower = Follower()
                    follower.order = number.isMultiple(of: 2) ? .creation : .newestFirst
                    for _ in 0..<300 {
                        try await follower.follow(it, limit: Int.random(in: 1...9, using: &generator))
                    }
                    return follower
                }
            }
            return try await group.reduce(into: [Follower]()) { followers, follower in
                if let follower { followers.append(follower) }
            }
        }
        var generator = SeededGenerator(seed: seed)
        for follower in followers {
            let last = try await Self.end(of: follower, it, &generator)
            #expect(last.orphans == [], "seed \(seed)")
            #expect(try await last.records == Self.truth(it), "seed \(seed)")
        }
        #expect(try await it.wrongCounters() == [])
    }

    private static func end(
        of follower: Follower,
        _ it: EngineUnderTest,
        _ generator: inout SeededGenerator
    ) async throws -> Follower {
        var follower = follower
        repeat {
            do throws(StoreError) {
                try await follower.follow(it, limit: Int.random(in: 1...6, using: &generator))
            } catch .changeTokenExpired {
                follower = Follower()
            }
        } while !follower.isThrough
        return follower
    }

    /// Saves with parents that change, deletes, and now and then a zone that goes and comes back.
    private static func write(
        _ it: EngineUnderTest,
        in zone: ZoneID = notes,
        by requester: Requester? = nil,
        dropsZones: Bool = true,
        _ generator: inout SeededGenerator
    ) async throws {
        if dropsZones, Int.random(in: 0..<150, using: &generator) == 0 {
            _ = try await it.modifyZones([], deletes: ["notes"])
            _ = try await it.modifyZones(["notes"])
        }
        let chosen = self.names.shuffled(using: &generator)
        let saves = chosen.prefix(Int.random(in: 0...4, using: &generator)).map { name in
            let parent: RecordSave.ParentChange =
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: .removed
                case 1, 2, 3: .set(recordName: self.names.randomElement(using: &generator)!)
                default: .unchanged
                }
            let text = String(repeating: "x", count: Int.random(in: 0...9, using: &generator))
            return save(name, in: zone, ["s": .string(text)], parent: parent)
        }
        let deletes = chosen.suffix(Int.random(in: 0...3, using: &generator)).map {
            id($0, in: zone)
        }
        _ = try await it.modify(
            saves,
            deletes: deletes,
            policy: .changedKeys,
            isAtomic: false,
            by: requester
        )
    }

    /// What there is of the names that are written, and of some users.
    private static func truth(
        _ it: EngineUnderTest,
        users: [String] = [],
        by requester: Requester? = nil
    ) async throws -> [String: Follower.Known] {
        let zone = requester == nil ? notes : .default
        var known: [String: Follower.Known] = [:]
        for outcome in try await it.fetch((self.names + users).map { id($0, in: zone) }, by: requester) {
            guard case .record(let record) = outcome else { continue }
            known[record.id.recordName] = Follower.Known(tag: record.changeTag, parent: record.parent)
        }
        return known
    }

    @Test(arguments: EngineKind.allCases, [FetchChanges.SnapshotOrder.creation, .newestFirst])
    func `when nothing changes meanwhile each record comes once, whatever the pages`(
        kind: EngineKind,
        order: FetchChanges.SnapshotOrder
    ) async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let it = try await EngineUnderTest.withNotes(kind)
        let start = try await it.token(of: notes)
        for _ in 0..<200 { try await Self.write(it, dropsZones: false, &generator) }
        let truth = try await Self.truth(it)
        for limit in [1, 2, 3, 7, 1_000] {
            var snapshot = Follower()
            snapshot.order = order
            repeat { try await snapshot.follow(it, limit: limit) } while !snapshot.isThrough
            #expect(snapshot.seen.sorted() == truth.keys.sorted(), "limit \(limit), seed \(generator.seed)")
            #expect(snapshot.orphans == [], "limit \(limit), seed \(generator.seed)")
            var feed = Follower()
            feed.token = start
            repeat { try await feed.follow(it, limit: limit) } while !feed.isThrough
            #expect(feed.seen.sorted() == truth.keys.sorted(), "limit \(limit), seed \(generator.seed)")
            #expect(feed.orphans == [], "limit \(limit), seed \(generator.seed)")
        }
    }
}
