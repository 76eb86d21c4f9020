import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// What feeds of zones and databases say, one rule at a time.
@Suite(.timeLimit(.minutes(10)))
struct FeedTests {
    private static func child(_ name: String, of parent: String) -> RecordSave {
        save(name, parent: .set(recordName: parent))
    }

    // MARK: Snapshots

    @Test(arguments: EngineKind.allCases)
    func `a snapshot has what is alive in the order of creation or the other way round`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        for name in ["a", "b", "c", "d"] { _ = try await it.modify([save(name)]) }
        _ = try await it.modify([save("a", ["n": .int64(1)])], deletes: [id("c")], policy: .changedKeys)
        for limit in [1, 2, 3, 4] {
            #expect(try await it.all(limit: limit).items == ["a", "b", "d"])
            #expect(try await it.all(order: .newestFirst, limit: limit).items == ["d", "b", "a"])
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `every page of a snapshot says what there was when it began`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a", ["n": .int64(1)]), save("b"), save("c")])
        let records = try await it.fetch(["a", "b", "c"].map { id($0) })
        let bytes = records.reduce(0) { sum, outcome in
            guard case .record(let record) = outcome else { return sum }
            return sum + record.body.bytes.count
        }
        let totals = SnapshotTotals(records: 3, bytes: UInt64(bytes))
        let first = try await it.changes(FeedRead(zone: notes, limit: 2))
        #expect(first.totals == totals)
        #expect(first.moreComing)
        _ = try await it.modify([save("d")], deletes: [id("b")])
        let second = try await it.changes(FeedRead(zone: notes, token: first.token, limit: 2))
        #expect(second.totals == totals)
        #expect(second.items.map(\.text) == ["c", "d"])
        #expect(second.moreComing)
        let third = try await it.changes(FeedRead(zone: notes, token: second.token, limit: 2))
        #expect(third.totals == nil)
        #expect(third.items.map(\.text) == ["-b"])
        #expect(!third.moreComing)
    }

    @Test(arguments: EngineKind.allCases)
    func `a record that changes while a client pages comes once, in the feed behind the snapshot`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a"), save("b"), save("c")])
        let first = try await it.changes(FeedRead(zone: notes, limit: 1))
        #expect(first.items.map(\.text) == ["a"])
        _ = try await it.modify([save("b", ["n": .int64(1)])], policy: .changedKeys)
        #expect(try await it.all(after: first.token, limit: 1).items == ["c", "b"])
    }

    // MARK: Parents

    @Test(arguments: EngineKind.allCases)
    func `ancestors of which a child was saved before their last change come first, and once`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let start = try await it.token(of: notes)
        _ = try await it.modify([save("g"), Self.child("p", of: "g"), Self.child("c", of: "p")])
        _ = try await it.modify([save("g", ["n": .int64(1)])], policy: .changedKeys)
        _ = try await it.modify([save("p", ["n": .int64(1)])], policy: .changedKeys)
        for limit in [1, 2, 3, 4] {
            #expect(try await it.all(after: start, limit: limit).items == ["g", "p", "c"])
            #expect(try await it.all(order: .newestFirst, limit: limit).items == ["g", "p", "c"])
        }
    }

    /// A record that a snapshot counts may have moved under parents that it could not count.
    @Test(arguments: EngineKind.allCases)
    func `a parent created after a snapshot began comes in it, and its totals do not count it`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a"), save("p"), Self.child("c", of: "p")])
        let first = try await it.changes(FeedRead(zone: notes, limit: 1))
        #expect(first.items.map(\.text) == ["a"])
        _ = try await it.modify([save("new")])
        _ = try await it.modify([Self.child("p", of: "new")], policy: .changedKeys)
        let rest = try await it.changes(FeedRead(zone: notes, token: first.token))
        #expect(rest.items.map(\.text) == ["new", "p", "c"])
        #expect(rest.totals?.records == 3)
    }

    @Test(arguments: EngineKind.allCases)
    func `a parent that the client has keeps its turn`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("p")])
        let start = try await it.all().token
        _ = try await it.modify([Self.child("c", of: "p")])
        _ = try await it.modify([save("p", ["n": .int64(1)])], policy: .changedKeys)
        #expect(try await it.all(after: start).items == ["c", "p"])
    }

    @Test(arguments: EngineKind.allCases)
    func `more parents than a token remembers come again, and none is left out`(kind: EngineKind) async throws
    {
        let it = try await EngineUnderTest.withNotes(kind)
        let parents = (0..<800).map { "p\($0)" }
        for first in stride(from: 0, to: 800, by: 200) {
            _ = try await it.modify(parents[first..<first + 200].map { save($0) })
        }
        for first in stride(from: 0, to: 800, by: 200) {
            _ = try await it.modify(parents[first..<first + 200].map { Self.child("c" + $0, of: $0) })
        }
        var follower = Follower()
        follower.order = .newestFirst
        repeat { try await follower.follow(it, limit: 100) } while !follower.isThrough
        #expect(follower.orphans == [])
        #expect(follower.records.count == 1_600)
        #expect(follower.seen.count > 1_600)
    }

    // MARK: Feeds

    @Test(arguments: EngineKind.allCases)
    func `a feed has each change once, in order, and deletions with their type`(kind: EngineKind) async throws
    {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a"), save("b"), save("c")])
        let start = try await it.all()
        #expect(start.items == ["a", "b", "c"])
        #expect(try await it.all(after: start.token).items == [])
        for number in 0..<3 {
            _ = try await it.modify([save("b", ["n": .int64(Int64(number))])], policy: .changedKeys)
        }
        _ = try await it.modify([save("d", type: "Other")], deletes: [id("a")])
        _ = try await it.modify([], deletes: [id("d")])
        for limit in [1, 2, 3] {
            #expect(try await it.all(after: start.token, limit: limit).items == ["b", "-a", "-d"])
        }
        let answer = try await it.changes(FeedRead(zone: notes, token: start.token))
        guard case .recordDeleted(let deleted)? = answer.items.last else {
            Issue.record("the last item is no deletion")
            return
        }
        #expect(deleted.recordType == "Other")
        _ = try await it.modify([save("a")])
        #expect(try await it.all(after: answer.token).items == ["a"])
    }

    @Test(arguments: EngineKind.allCases)
    func `the last item of a page that fits exactly ends the feed`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a"), save("b")])
        #expect(try await it.changes(FeedRead(zone: notes, limit: 2)).moreComing == false)
        #expect(try await it.changes(FeedRead(zone: notes, limit: 1)).moreComing == true)
    }

    @Test(arguments: EngineKind.allCases)
    func `a page ends before its records take more bytes than an answer may have`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { $0.bounds.responseBytesMax = 250 }
        let text = String(repeating: "x", count: 100)
        for name in ["a", "b", "c"] { _ = try await it.modify([save(name, ["s": .string(text)])]) }
        let whole = String(repeating: "x", count: 300)
        _ = try await it.modify([save("d", ["s": .string(whole)])])
        let first = try await it.changes(FeedRead(zone: notes))
        #expect(first.items.map(\.text) == ["a", "b"])
        let second = try await it.changes(FeedRead(zone: notes, token: first.token))
        #expect(second.items.map(\.text) == ["c"])
        let third = try await it.changes(FeedRead(zone: notes, token: second.token))
        #expect(third.items.map(\.text) == ["d"])
        #expect(!third.moreComing)
        let names = try await it.changes(FeedRead(zone: notes, desiredKeys: []))
        #expect(names.items.count == 4)
    }

    @Test(arguments: EngineKind.allCases)
    func `the token for now has nothing before it and everything behind it`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a")])
        let token = try await it.token(of: notes)
        let database = try await it.token(of: nil)
        #expect(try await it.all(after: token).items == [])
        _ = try await it.modify([save("b")], deletes: [id("a")])
        #expect(try await it.all(after: token).items == ["b", "-a"])
        let changed = try await it.databaseChanges(DatabaseFeedRead(token: database))
        #expect(changed.items.map(\.text) == ["notes"])
    }

    // MARK: Databases

    @Test(arguments: EngineKind.allCases)
    func `a database's feed has zones that changed, came and went`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        _ = try await it.modifyZones(["a", "b", "c"])
        let first = try await it.databaseChanges(DatabaseFeedRead())
        #expect(first.items.map(\.text) == ["_defaultZone", "a", "b", "c"])
        #expect(!first.moreComing)
        _ = try await it.modify([save("r", in: ZoneID(zoneName: "a"))])
        _ = try await it.modifyZones(["d"], deletes: ["b"])
        _ = try await it.modifyZones([], deletes: ["c"])
        _ = try await it.modifyZones(["c"])
        var items: [String] = []
        var read = DatabaseFeedRead(token: first.token, limit: 1)
        while true {
            let answer = try await it.databaseChanges(read)
            #expect(answer.items.count <= 1)
            items += answer.items.map(\.text)
            read.token = answer.token
            guard answer.moreComing else { break }
        }
        #expect(items == ["a", "d", "-b", "c"])
        #expect(
            try await it.databaseChanges(DatabaseFeedRead()).items.map(\.text) == [
                "_defaultZone", "a", "d", "c",
            ]
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `a zone that was deleted over and over comes once, at its last deletion`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        _ = try await it.modifyZones(["a", "b"])
        let first = try await it.databaseChanges(DatabaseFeedRead())
        for _ in 0..<3 {
            _ = try await it.modifyZones([], deletes: ["a"])
            _ = try await it.modifyZones(["a"])
        }
        _ = try await it.modifyZones([], deletes: ["b"])
        _ = try await it.modifyZones([], deletes: ["a"])
        for limit in [1, 2, 10] {
            var items: [String] = []
            var read = DatabaseFeedRead(token: first.token, limit: limit)
            while true {
                let answer = try await it.databaseChanges(read)
                items += answer.items.map(\.text)
                read.token = answer.token
                guard answer.moreComing else { break }
            }
            #expect(items == ["-b", "-a"], "limit \(limit)")
        }
    }

    // MARK: Tokens

    @Test(arguments: EngineKind.allCases)
    func `a token of another zone, database or feed, or of none, has expired`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifyZones(["other"])
        let token = try await it.token(of: notes)
        let others = [
            try await it.token(of: ZoneID(zoneName: "other")), try await it.token(of: nil),
            try await it.token(of: .default, by: it.bobPrivately), [], [0], Array(token.dropLast()),
            token + [0],
        ]
        for other in others {
            await #expect(throws: StoreError.changeTokenExpired) {
                try await it.changes(FeedRead(zone: notes, token: other))
            }
        }
        await #expect(throws: StoreError.changeTokenExpired) {
            try await it.databaseChanges(DatabaseFeedRead(token: token))
        }
        await #expect(throws: StoreError.zoneMissing) {
            try await it.changes(FeedRead(zone: ZoneID(zoneName: "absent"), token: token))
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `any bytes are a token of the feed or have expired`(kind: EngineKind) async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify((0..<10).map { save("r\($0)") })
        let tokens = [
            try await it.token(of: notes), try await it.changes(FeedRead(zone: notes, limit: 3)).token,
        ]
        for _ in 0..<2_000 {
            var token = tokens.randomElement(using: &generator)!
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: token.indices, using: &generator)
                token[place] = UInt8.random(in: .min ... .max, using: &generator)
            }
            do throws(StoreError) {
                _ = try await it.changes(FeedRead(zone: notes, token: token))
            } catch {
                #expect(error == .changeTokenExpired)
            }
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a zone that was created again expires its old tokens`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a")])
        let token = try await it.token(of: notes)
        _ = try await it.modifyZones([], deletes: ["notes"])
        await #expect(throws: StoreError.zoneMissing) {
            try await it.changes(FeedRead(zone: notes, token: token))
        }
        _ = try await it.modifyZones(["notes"])
        await #expect(throws: StoreError.changeTokenExpired) {
            try await it.changes(FeedRead(zone: notes, token: token))
        }
        #expect(try await it.all().items == [])
    }

    // MARK: Public databases

    @Test(arguments: EngineKind.allCases)
    func `who may read his own records only hears of no other's deletion`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        _ = try await it.modify([save("hers", in: .default)], by: it.publicly)
        _ = try await it.modify([save("his", in: .default)], by: it.bobPublicly)
        try it.changeGrants { grant, _ in
            switch grant.role {
            case SystemRole.creator: 7
            case SystemRole.world: nil
            default: grant.permissions
            }
        }
        let token = try await it.token(of: .default, by: it.publicly)
        _ = try await it.modify([], deletes: [id("hers", in: .default)], by: it.publicly)
        _ = try await it.modify([], deletes: [id("his", in: .default)], by: it.bobPublicly)
        #expect(try await it.all(after: token, of: .default, by: it.publicly).items == ["-hers"])
        let bobs = try await it.changes(FeedRead(zone: .default), by: it.bobPublicly).items.map(\.text)
        #expect(!bobs.contains { $0.contains("hers") })
    }

    @Test(arguments: EngineKind.allCases)
    func `the public feed has what the reader may read, and of user records their own, without totals`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        _ = try await it.modify([save("a", in: .default)], by: it.publicly)
        let open = try await it.changes(FeedRead(zone: .default), by: it.anonymously)
        #expect(open.totals == nil)
        #expect(open.items.map(\.text) == ["a"])
        #expect(try await it.all(of: .default, by: it.publicly).items == [EngineUnderTest.alice, "a"])
        #expect(try await it.all(of: .default, by: it.bobPublicly).items == [EngineUnderTest.bob, "a"])
        _ = try await it.modify([save("h", in: .default, type: "Hidden")], by: it.publicly)
        try it.changeGrants { grant, type in
            grant.role == SystemRole.world && type == "Hidden" ? nil : grant.permissions
        }
        let token = try await it.token(of: .default, by: it.anonymously)
        for requester in [it.anonymously, it.bobPublicly] {
            let answer = try await it.changes(FeedRead(zone: .default), by: requester)
            #expect(answer.totals == nil)
            #expect(!answer.items.map(\.text).contains("h"))
        }
        _ = try await it.modify([], deletes: [id("h", in: .default)], by: it.publicly)
        #expect(try await it.all(after: token, of: .default, by: it.anonymously).items == [])
        #expect(
            try await it.databaseChanges(DatabaseFeedRead(), by: it.anonymously).items.map(\.text) == [
                "_defaultZone"
            ]
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `a user record that comes, changes and goes is told to its user alone`(kind: EngineKind) async throws
    {
        let it = try EngineUnderTest(kind)
        let start = try await it.token(of: .default, by: it.anonymously)
        let database = try await it.token(of: nil, by: it.anonymously)
        let carol = try it.newUser("carol", 0xca201)
        let name = try #require(carol.userRecordName)
        let hers = Requester(
            database: it.publicly.database,
            scope: .public,
            environment: carol.environment,
            userRecordName: name
        )
        let record = id(name, in: .default)
        let change = save(name, in: .default, type: "Users", ["phone": .string("1")])
        #expect(try await it.modify([change], policy: .changedKeys, by: hers).areSaved)
        // A user who knows her name may fetch what the roles allow; no feed reports it.
        #expect(try await it.record(record, by: it.bobPublicly)?["phone"] == .string("1"))
        for requester in [it.anonymously, it.bobPublicly] {
            #expect(try await it.all(after: start, of: .default, by: requester).items == [])
            #expect(try await it.all(of: .default, by: requester).items.filter { $0.contains(name) } == [])
        }
        #expect(try await it.all(after: start, of: .default, by: hers).items == [name])
        // The zone has changed, and that is all the database's feed says.
        let zones = try await it.databaseChanges(DatabaseFeedRead(token: database), by: it.anonymously)
        #expect(zones.items.map(\.text) == ["_defaultZone"])

        let known = try await it.token(of: .default, by: hers)
        let deletion = Deletion.user(name: "carol", container: EngineUnderTest.container)
        try it.store.directory.beginDeletion(deletion)
        while try await it.record(record, by: it.bobPublicly) != nil {
            _ = try it.store.directory.deleteSome(of: deletion)
        }
        for requester in [it.anonymously, it.bobPublicly] {
            for token in [start, known] {
                #expect(try await it.all(after: token, of: .default, by: requester).items == [])
            }
        }
        #expect(try await it.all(after: known, of: .default, by: hers).items == ["-" + name])
    }

    @Test(arguments: EngineKind.allCases)
    func `whoever may not read user records at all is not even told of their own`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        let text = "DEFINE SCHEMA RECORD TYPE Users (nick STRING, GRANT WRITE TO \"_creator\");"
        try it.store.schemas.apply(
            .replaceDevelopment(try SchemaParser.parse(text)),
            inContainer: EngineUnderTest.container
        )
        #expect(try await it.all(of: .default, by: it.publicly).items == [])
        #expect(try await it.all(of: .default, by: it.privately).items == [EngineUnderTest.alice])
    }

    // MARK: Numbers

    @Test(arguments: EngineKind.allCases)
    func `a zone's feed finds its records, however those of others lie between`(kind: EngineKind) async throws
    {
        let it = try await EngineUnderTest.withNotes(kind)
        let start = try await it.token(of: notes)
        // One after the other, then with a few and with many of another zone between them.
        for (number, others) in [0, 0, 1, 3, 7, 8, 9, 40, 0].enumerated() {
            _ = try await it.modify((0..<others).map { save("other\(number) \($0)", in: .default) })
            _ = try await it.modify([save("r\(number)")])
        }
        _ = try await it.modify([save("r2", ["n": .int64(1)])], deletes: [id("r4")], policy: .changedKeys)
        let expected = ["r0", "r1", "r3", "r5", "r6", "r7", "r8", "r2", "-r4"]
        for limit in [1, 3, 100] {
            #expect(try await it.all(after: start, limit: limit).items == expected)
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a deleted record is not taken for another user's that got its number and position`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        func position(of name: String, by requester: Requester) async throws -> Int {
            let saves = [save(name, in: .default)]
            let tag = try await it.modify(saves, policy: .allKeys, by: requester)[0].tag
            return try #require(tag.flatMap { Int($0, radix: 36) })
        }
        var (ours, theirs) = (0, 0)
        repeat {
            if ours <= theirs {
                ours = try await position(of: "pad", by: it.privately)
            } else {
                theirs = try await position(of: "pad", by: it.bobPrivately)
            }
        } while ours != theirs
        let before = try await it.token(of: .default)
        #expect(try await position(of: "gone", by: it.privately) == ours + 1)
        _ = try await it.modify([], deletes: [id("gone", in: .default)])
        // The last number was given back, and the position is the same one of another database.
        #expect(try await position(of: "theirs", by: it.bobPrivately) == ours + 1)
        #expect(try await it.all(after: before, of: .default).items == ["-gone"])
    }
}
