import Foundation
import PostgreSQLCluster
import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// The cost of requests in a store of many users and much data: rows that are read, not time.
@Suite(.timeLimit(.minutes(20)))
struct ScaleTests {
    private static let few = 1_000
    /// Some tens of thousands, or as many as `TIDEMARK_USERS` says.
    private static let many =
        ProcessInfo.processInfo.environment["TIDEMARK_USERS"].flatMap(Int.init) ?? 30_000
    private static let signInsCount = 50
    /// Of a database with contents, in a large store.
    private static let copiesMax = 400

    private static func costs(_ it: EngineUnderTest) throws -> StoreCosts {
        let target = try PostgreSQLCluster.running().target(standingFor: it.folder.path)
        return StoreCosts(database: target.databaseName ?? "")
    }

    // MARK: Users

    @Test
    func `a user who never signed in costs one row, and one who did a few`() async throws {
        let it = try await EngineUnderTest.withNotes(.postgreSQL)
        let costs = try Self.costs(it)
        let before = try costs.rows()
        let directory = it.store.directory
        try directory.addUser(
            named: "carol",
            userRecordName: "_00000000000000000000000000000ca0",
            tokenHash: EngineUnderTest.token(of: "carol"),
            toContainer: EngineUnderTest.container
        )
        #expect(Self.added(before, try costs.rows()) == ["user": 1])
        _ = try it.signIn(named: "carol")
        // The databases, the zone of each that has one, and the record of the user.
        let signedIn = Self.added(before, try costs.rows())
        #expect(signedIn["database"] == 2)
        #expect(signedIn.values.reduce(0, +) <= 12, "\(signedIn)")
    }

    private static func added(_ before: [String: Int], _ after: [String: Int]) -> [String: Int] {
        after.merging(before) { $0 - $1 }.filter { $0.value != 0 }
    }

    @Test
    func `a sign-in among many users reads as many rows as among few`() async throws {
        let first = try await EngineUnderTest.withNotes(.postgreSQL)
        let costs = try Self.costs(first)
        await first.store.shutdown()
        try Self.makeUsers(1...Self.few, costs)
        let (it, few) = try await Self.signInAll(first, costs)
        try Self.makeUsers(Self.few + 1...Self.many, costs)
        let (_, many) = try await Self.signInAll(it, costs)
        #expect(StoreCosts.scanned(few) == [] && StoreCosts.scanned(many) == [])
        #expect(StoreCosts.growing(few, many) == [])
        #expect(few["user"]?.rows ?? 0 >= Self.signInsCount)
        let count = try costs.rows()["user"]
        #expect(count ?? 0 > Self.many)
    }

    /// Adds users with their databases, as copies of Alice, whose tokens are hashes of their numbers.
    private static func makeUsers(_ numbers: ClosedRange<Int>, _ costs: StoreCosts) throws {
        let series = "generate_series(\(numbers.lowerBound), \(numbers.upperBound)) AS n"
        let cluster = try PostgreSQLCluster.running()
        for text in [
            """
            INSERT INTO tidemark."user"
            SELECT 1000000 + n, u.container, 'user' || n, '_' || lpad(to_hex(1000000 + n), 32, '0'), u.created_ms,
                sha256(n::text::bytea), u.kind, 0, NULL, NULL, u.credential_version
            FROM \(series), tidemark."user" AS u WHERE u.name = 'alice'
            """,
            """
            INSERT INTO tidemark."database"
            SELECT 1000000 + n * 10 + d.scope, d.environment, d.scope, 1000000 + n, 0, d.epoch, 0, 0, 0, 0, 0, 0
            FROM \(series), tidemark."database" AS d JOIN tidemark."user" AS u ON u.number = d.owner
            WHERE u.name = 'alice'
            """,
        ] {
            try cluster.row(text, in: costs.database)
        }
    }

    /// Signs in as some of the users, each by their token; returns what was read for that.
    private static func signInAll(
        _ it: EngineUnderTest,
        _ costs: StoreCosts
    ) async throws -> (EngineUnderTest, [String: StoreCosts.Reads]) {
        let before = try await costs.reads()
        let opened = try await it.reopenedUnasked()
        for number in 1...self.signInsCount {
            let hash = try PostgreSQLCluster.running().row(
                "SELECT encode(sha256(\(number)::text::bytea), 'hex')",
                in: "postgres"
            )[0]
            let signIn = try opened.store.directory.signIn(
                container: EngineUnderTest.container,
                environment: .development,
                tokenHash: Self.bytes(hash)
            )
            #expect(signIn.userRecordName?.hasSuffix(String(1_000_000 + number, radix: 16)) == true)
        }
        await opened.store.shutdown()
        return (opened, StoreCosts.between(before, try await costs.reads()))
    }

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal.utf8)
        return stride(from: 0, to: digits.count, by: 2).map { index in
            UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }

    // MARK: Data

    @Test
    func `requests read as much in a store with much data of others as in a small one`() async throws {
        var reads: [[String: StoreCosts.Reads]] = []
        for copies in [1, Self.copiesMax] {
            let it = try await EngineUnderTest.withNotes(.postgreSQL)
            let costs = try Self.costs(it)
            try await Self.fill(it)
            await it.store.shutdown()
            try Self.copyData(copies, costs)
            let before = try await costs.reads()
            let opened = try await it.reopened()
            try await Self.work(opened)
            await opened.store.shutdown()
            reads.append(StoreCosts.between(before, try await costs.reads()))
            let records = try costs.rows()["record"] ?? 0
            #expect(records > copies * 40)
        }
        #expect(StoreCosts.scanned(reads[0]) == [])
        #expect(StoreCosts.scanned(reads[1]) == [])
        let growing = StoreCosts.growing(reads[0], reads[1], zonesWithTombstones: Self.copiesMax)
        #expect(growing == [])
    }

    /// Contents of a database that copies are made of.
    private static func fill(_ it: EngineUnderTest) async throws {
        let saves = (0..<50).map { number in
            save("n\(number)", ["number": .int64(Int64(number)), "text": .string("some words of \(number)")])
        }
        #expect(try await it.modify(saves).areSaved)
        let children = (0..<10).map { save("c\($0)", parent: .set(recordName: "n\($0)")) }
        #expect(try await it.modify(children).areSaved)
        _ = try await it.modify([], deletes: (40..<50).map { id("n\($0)") })
        _ = try await it.modifySubscriptions([zoneSubscription("z"), query("q")])
    }

    // MARK: One zone

    /// Without statistics PostgreSQL takes the zone for a row or two.
    @Test(arguments: [false, true])
    func `requests in a zone of many records read those that they name`(hasStatistics: Bool) async throws {
        let it = try await EngineUnderTest.withNotes(.postgreSQL)
        let costs = try Self.costs(it)
        for start in stride(from: 0, to: 4_000, by: 400) {
            let saves = (start..<start + 400).map { save("n\($0)", ["number": .int64(Int64($0))]) }
            #expect(try await it.modify(saves).areSaved)
        }
        await it.store.shutdown()
        if hasStatistics { try PostgreSQLCluster.running().row("ANALYZE", in: costs.database) }
        let before = try await costs.reads()
        let opened = try await it.reopened()
        let token = try await opened.changes(FeedRead(zone: notes, limit: 400)).token
        for start in [100, 2_100] {
            let names = (start..<start + 50).map { "n\($0)" }
            let saves = names.map { save($0, ["number": .int64(-1)]) }
            #expect(try await opened.modify(saves, policy: .allKeys).areSaved)
            #expect(try await opened.modify([saves[0]], policy: .allKeys).areSaved)
            #expect(try await opened.fetch(names.map { id($0) }).count == 50)
            #expect(try await opened.modify([], deletes: names.suffix(20).map { id($0) }).count == 20)
            #expect(try await opened.modify([save(names[49])]).areSaved)
            let page = try await opened.changes(FeedRead(zone: notes, token: token, limit: 50))
            #expect(page.items.count == 50)
            let found = Query(recordType: "Note", predicate: NumberedNotes.number(.equals, -1))
            #expect(try await !opened.query(QueryRead(query: found, zone: notes)).records.isEmpty)
        }
        await opened.store.shutdown()
        let reads = StoreCosts.between(before, try await costs.reads())
        #expect(StoreCosts.scanned(reads) == [])
        // The requests name some 900 records. A statement that read the zone would read 4,000, several times.
        for table in ["record", "change", "tombstone", "index_entry"] {
            #expect(reads[table]?.rows ?? 0 < 6_000, "\(table): \(reads)")
        }
    }

    // MARK: Changes of others

    /// Without statistics, and with those that PostgreSQL gathers by itself sooner or later.
    @Test(arguments: [false, true])
    func `a few changes of another server are read by themselves in a zone of many records`(
        hasStatistics: Bool
    ) async throws {
        let it = try await EngineUnderTest.withNotes(.postgreSQL)
        let costs = try Self.costs(it)
        for start in stride(from: 0, to: 4_000, by: 400) {
            #expect(try await it.modify((start..<start + 400).map { save("n\($0)") }).areSaved)
        }
        let (database, environment) = (it.privately.database, it.privately.environment)
        let last = try it.store.engine.administer { try $0.position(of: database) }
        await it.store.shutdown()
        let cluster = try PostgreSQLCluster.running()
        if hasStatistics { try cluster.row("ANALYZE", in: costs.database) }
        let before = try await costs.reads()
        let stretch = ChangesOfOthers.Stretch(database: database, environment: environment, after: last - 3)
        let found = try ChangesOfOthers.read(
            [stretch],
            on: PostgreSQLConnection(cluster.target(standingFor: it.folder.path))
        ) { _, _ in FieldDefinitions() }
        let reports = try #require(found.first).reports(behind: stretch.after, nowMilliseconds: 0)
        #expect(reports.flatMap(\.changes).count == 3)
        let reads = StoreCosts.between(before, try await costs.reads())
        // Each record is an entry of an index and a row.
        #expect((3...12).contains(reads["record"]?.rows ?? 0), "\(reads)")
        #expect(StoreCosts.scanned(reads) == [])
    }

    /// Copies the contents of Alice's database into other databases, which have other numbers.
    private static func copyData(_ copies: Int, _ costs: StoreCosts) throws {
        let cluster = try PostgreSQLCluster.running()
        for table in ["zone", "record", "change", "tombstone", "hold", "index_entry"] {
            let columns = try cluster.row(
                """
                SELECT string_agg(CASE
                    WHEN column_name = 'database' THEN 't."database" + 1000000 * n'
                    WHEN column_name = 'record' OR (column_name = 'number' AND table_name = 'record')
                        THEN 't.' || column_name || ' + 1000000 * n'
                    ELSE 't.' || quote_ident(column_name) END, ', ' ORDER BY ordinal_position)
                FROM information_schema.columns WHERE table_schema = 'tidemark' AND table_name = '\(table)'
                """,
                in: costs.database
            )[0]
            try cluster.row(
                """
                INSERT INTO tidemark.\(table) SELECT \(columns)
                FROM generate_series(1, \(copies)) AS n, tidemark.\(table) AS t WHERE t."database" < 1000000
                """,
                in: costs.database
            )
        }
    }

    /// The requests of an app in a session, and the work of a server beside them.
    private static func work(_ it: EngineUnderTest) async throws {
        for number in 0..<5 {
            let name = "w\(number)"
            #expect(try await it.modify([save(name, ["number": .int64(1_000)])]).areSaved)
            #expect(try await it.modify([save(name, ["text": .string("x")])], policy: .allKeys).areSaved)
            #expect(try await it.record(id(name)) != nil)
            let found = QueryRead(
                query: Query(recordType: "Note", predicate: NumberedNotes.number(.equals, Int64(number))),
                zone: notes
            )
            #expect(try await it.query(found).records.count == 1)
            let sorted = Query(recordType: "Note", sort: [SortKey(field: "___createTime")])
            #expect(try await it.query(QueryRead(query: sorted, limit: 10)).records.count == 10)
            let page = try await it.changes(FeedRead(zone: notes, limit: 20))
            _ = try await it.changes(FeedRead(zone: notes, token: page.token, limit: 20))
            _ = try await it.databaseChanges(DatabaseFeedRead(token: nil, limit: 10))
            _ = try await it.modifyZones(["zone\(number)"])
            #expect(try await it.zones().count > 1)
            _ = try await it.modifySubscriptions([zoneSubscription("s\(number)")])
            _ = try await it.news()
            _ = try it.signIn(named: "alice")
            _ = try it.store.directory.credentialChanges(after: 0)
            let asset = file(number)
            try await it.upload(asset)
            let naming = save("a\(number)", ["file": .asset(asset)])
            #expect(try await it.modify([naming]).areSaved)
            _ = try await it.removals()
            #expect(try await it.modify([], deletes: [id("a\(number)"), id(name)]).count == 2)
            _ = try await it.modifyZones([], deletes: ["zone\(number)"])
        }
        let share = try await it.share("shared")
        try await it.join(share, by: it.bobShared)
        try await it.swept()
    }
}
