import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformanceTests

/// Files of formats 2 and 3.
extension FormatTests {
    @Test
    func `a file of format 2 opens, keeps its records, and a feed begins with all of them`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 2))
        let known = [
            FixtureContents.inbox, FixtureContents.one, FixtureContents.two, FixtureContents.three,
            FixtureContents.seven,
        ]
        try await FixtureContents.expect(known, in: it)
        #expect(try await it.all(order: .newestFirst).items == ["n7", "n3", "f1", "n2", "n1"])
        try await FixtureContents.expect([FixtureContents.bobs], by: it.bobPrivately, in: it)
        try await FixtureContents.expect([FixtureContents.open], by: it.publicly, in: it)
        let production = try it.requester(in: .production)
        try await FixtureContents.expect([FixtureContents.production], by: production, in: it)
        let deletions = ["n4 13", "n5 14", "n6 15"]
        #expect(try await FixtureContents.deletions(in: it) == deletions)
        // Their deletions count as of now, and nobody knows who created them.
        let tombstones = "SELECT DISTINCT creator || ' ' || (abs(unixepoch() * 1000 - deleted_ms) < 600000)"
        let other = OtherProcess(folder: it.folder)
        #expect(try await other.execute("\(tombstones) FROM tombstone") == ["0 1"])
        #expect(try await other.execute("SELECT name FROM zone_tombstone") == ["old", "gone"])
        #expect(
            try await it.databaseChanges(DatabaseFeedRead()).items.map(\.text) == ["_defaultZone", "notes"]
        )
        try await it.swept()
        #expect(try await it.isOrderWhole())
        #expect(try await it.wrongCounters() == [])
    }

    @Test
    func `a file of format 2 opens, and its references, roles and outcomes count`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 2))
        try await FixtureContents.expectReplay(by: it)
        try await FixtureContents.expectSchemas(of: it)
        let directory = it.store.directory
        let users = try directory.users(ofContainer: EngineUnderTest.container)
        #expect(users.map(\.name) == ["alice", "bob", "carol"])
        #expect(users.map(\.isRevoked) == [false, false, true])
        let candidate = [UInt8](repeating: 0, count: 32)
        #expect(
            try directory.secret(named: "cursor", orStoring: candidate) == [UInt8](repeating: 5, count: 32)
        )
        let token = try await it.all().token
        #expect(
            try await it.modify([], deletes: [id("n1")]) == [.failed(.referenceWouldDangle(referrer: "n3"))]
        )
        #expect(try await it.modify([], deletes: [id("n3"), id("n1")]) == [.deleted, .deleted])
        #expect(try await it.all(after: token).items == ["-n3", "-n2", "-n1"])
        #expect(try await it.wrongCounters() == [])
    }

    @Test
    func `a file of format 2 opens, and queries find by its indexes`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 2))
        func found(
            _ field: String,
            _ comparator: Comparator,
            _ operand: FieldValue,
            metres: Double = 0,
            by requester: Requester? = nil
        ) async throws -> [String] {
            let comparison = Comparison(
                field: field,
                comparator: comparator,
                operand: operand,
                distanceMetres: metres
            )
            let query = Query(
                recordType: field == "name" ? "Folder" : "Note",
                predicate: .comparison(comparison),
                sort: field == "name" ? [] : [SortKey(field: "count", isAscending: false)]
            )
            let page = try await it.query(QueryRead(query: query), by: requester)
            #expect(page.recordsRead == page.records.count)
            return page.records.map(\.id.recordName)
        }
        #expect(try await found("title", .equals, .string("one more")) == ["n1"])
        #expect(try await found("title", .equals, .string("one")) == [])
        #expect(try await found("title", .containsAllTokens, .string("ZWEI")) == ["n2"])
        #expect(try await found("count", .greaterThan, .int64(1)) == ["n1", "n7", "n2"])
        #expect(try await found("tags", .listContains, .string("b")) == ["n1"])
        #expect(try await found("link", .equals, reference("n1", .validate)) == ["n2", "n3"])
        #expect(try await found("name", .equals, .string("inbox")) == ["f1"])
        #expect(try await found("count", .equals, .int64(2), by: it.bobPublicly) == ["p1"])
        let place = FieldValue.location(Location(latitude: 48.5, longitude: 9.3))
        #expect(try await found("place", .near, place, metres: 10_000) == ["n1"])
        #expect(try await found("place", .near, place, metres: 1_000) == [])
        try await it.swept()
        let contents = try await IndexContents(of: OtherProcess(folder: it.folder))
        #expect(Set(contents.present) == contents.expected)
        #expect(contents.expected.count == 47)
    }

    @Test
    func `a file of format 3 opens, and its order of changes goes on`() async throws {
        let folder = try FixtureContents.folder(ofFormat: 3)
        let other = OtherProcess(folder: folder)
        #expect(try await other.count("stale_change") == 7)
        #expect(try await other.count("sweep") == 1)
        let it = try EngineUnderTest(.sqlite, openingFilesIn: folder)
        // The zone that was deleted last had not been swept, and stale changes had not been taken
        // out.
        #expect(try await other.execute("SELECT name FROM zone_tombstone") == ["old", "gone"])
        try await it.swept()
        while try await other.count("stale_change") > 0 {}
        let order = try await ChangeOrder(in: folder)
        #expect(order.isWhole)
        #expect(order.changes.count == order.records.count)
        let count = FixtureRecord(name: "", position: 25, created: 14, fields: [:])
        let known = [
            FixtureContents.inbox, FixtureContents.one, FixtureContents.two,
            FixtureContents.three.saved(35, after: 17, ["count": .int64(3)]), FixtureContents.seven,
            count.named("m2").saved(37, after: 19, ["count": .int64(23)]),
            count.named("m4").saved(31, after: 15, ["count": .int64(41)]),
            count.named("m5").saved(34, after: 17, ["count": .int64(50)], parent: "f1"),
        ]
        try await FixtureContents.expect(known, in: it)
        #expect(
            try await it.all(order: .newestFirst).items == ["f1", "m5", "m4", "m2", "n7", "n3", "n2", "n1"]
        )
        try await FixtureContents.expectReplay(by: it)
        try await FixtureContents.expectSchemas(of: it)
        let deletions = ["n4 13", "n5 14", "n6 15", "m1 33", "m3 36"]
        #expect(try await FixtureContents.deletions(in: it) == deletions)
        #expect(try await it.wrongCounters() == [])
        let token = try await it.all().token
        _ = try await it.modify([save("m4", ["count": .int64(42)])], policy: .changedKeys)
        _ = try await it.modify([], deletes: [id("m5")])
        _ = try await it.modify([save("n7", ["count": .int64(8)])], policy: .changedKeys)
        #expect(try await it.all(after: token).items == ["m4", "-m5", "n7"])
        #expect(try await it.wrongCounters() == [])
    }
}
