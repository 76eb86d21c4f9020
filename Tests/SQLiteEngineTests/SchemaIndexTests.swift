import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformance

/// What becomes of indexes when a schema changes (SQLite alone: every engine keeps them in its own way).
@Suite(.timeLimit(.minutes(10)))
struct SchemaIndexTests {
    private let it: EngineUnderTest
    private let other: OtherProcess

    init() async throws {
        self.it = try await EngineUnderTest.withNotes(.sqlite)
        self.other = OtherProcess(folder: self.it.folder)
        // Builds end in the background: what began is written down.
        try await self.other.execute("CREATE TABLE begun (index_number INTEGER)")
        try await self.other.execute(
            """
            CREATE TRIGGER begins AFTER INSERT ON index_build
            BEGIN INSERT INTO begun VALUES (new.index_number); END
            """
        )
    }

    private func replace(_ fields: String) throws {
        let document = try SchemaParser.parse("DEFINE SCHEMA RECORD TYPE Note (\(fields));")
        try self.it.store.schemas.apply(
            .replaceDevelopment(document),
            inContainer: EngineUnderTest.container
        )
    }

    /// The number of a field's index, or `nil` if it has none.
    private func index(_ field: String) async throws -> Int? {
        try await self.other.execute("SELECT index_number FROM field WHERE name = '\(field)'").first.flatMap {
            Int($0)
        }
    }

    /// Entries of a field's index once everything is built and removed.
    private func entries(_ field: String) async throws -> Int? {
        while try await self.other.count("index_build") + self.other.count("index_removal") > 0 {}
        guard let index = try await self.index(field) else { return nil }
        return Int(try await self.other.execute("SELECT count(*) FROM entries WHERE field = \(index)")[0])
    }

    @Test func `a type without records has its indexes at once`() async throws {
        try self.replace("s STRING, n INT64 QUERYABLE, \"___createdBy\" REFERENCE QUERYABLE")
        try self.replace("s STRING SEARCHABLE SORTABLE, n INT64, \"___etag\" STRING QUERYABLE")
        #expect(try await self.other.count("begun") == 0)
        _ = try await self.it.modify([save("a", ["s": .string("one two"), "n": .int64(1)])])
        #expect(try await self.entries("s") == 1)
        #expect(try await self.entries("n") == nil)
        #expect(try await self.entries("___allText") == 2)
        #expect(try await self.entries("___etag") == 1)
        #expect(try await self.entries("___createdBy") == nil)
        #expect(try await self.entries("___createTime") == nil)
        #expect(try await self.entries("___recordID") == 1)
        #expect(try await self.entries("___parent") == 0)
    }

    @Test func `an index on records that are there is filled in the background, and a dropped one emptied`()
        async throws
    {
        try self.replace("s STRING, n INT64")
        let saves = (0..<300).map { save("r\($0)", ["s": .string("word \($0)"), "n": .int64(Int64($0))]) }
        #expect(try await self.it.modify(saves).areSaved)
        try self.replace(
            "s STRING QUERYABLE, n INT64 SORTABLE, \"___createTime\" TIMESTAMP SORTABLE, new INT64 QUERYABLE"
        )
        // A field that no record can have yet is complete.
        #expect(try await self.other.count("begun") == 3)
        #expect(try await self.entries("s") == 300)
        #expect(try await self.entries("n") == 300)
        #expect(try await self.entries("___createTime") == 300)
        #expect(try await self.entries("new") == 0)

        let (old, kept) = (try await self.index("s"), try await self.index("n"))
        try self.replace("s STRING, n INT64 QUERYABLE SORTABLE, new INT64")
        #expect(try await self.entries("s") == nil)
        #expect(try await self.index("n") == kept)
        #expect(
            try await self.other.execute("SELECT count(*) FROM entries WHERE field = \(old ?? 0)") == ["0"]
        )
        try self.replace("s STRING SORTABLE, n INT64 QUERYABLE SORTABLE, new INT64")
        #expect(try await self.entries("s") == 300)
        #expect(try await self.index("s") != old)
    }

    @Test func `the full text is made again when other fields than before are in it`() async throws {
        try self.replace("s STRING SEARCHABLE, t STRING")
        _ = try await self.it.modify([save("a", ["s": .string("one two"), "t": .string("three")])])
        #expect(try await self.entries("___allText") == 2)
        try self.replace("s STRING SEARCHABLE, t STRING SEARCHABLE, u STRING SEARCHABLE")
        #expect(try await self.other.count("begun") == 1)
        #expect(try await self.entries("___allText") == 3)
        try self.replace("s STRING, t STRING SEARCHABLE, u STRING")
        #expect(try await self.entries("___allText") == 1)
        try self.replace("s STRING, t STRING, u STRING")
        #expect(try await self.entries("___allText") == nil)
        // The first searchable field makes it again.
        _ = try await self.it.modify([save("b", ["v": .string("four five")])])
        #expect(try await self.entries("___allText") == 2)
    }

    @Test func `a deploy builds in production, and a reset leaves nothing to build or to keep`() async throws
    {
        try self.replace("s STRING")
        try self.it.store.schemas.apply(.deploy, inContainer: EngineUnderTest.container)
        let production = try self.it.requester(in: .production)
        _ = try await self.it.modify([save("p", in: .default, ["s": .string("x")])], by: production)
        try self.replace("s STRING QUERYABLE")
        try self.it.store.schemas.apply(.deploy, inContainer: EngineUnderTest.container)
        #expect(try await self.other.count("begun") == 1)
        _ = try await self.it.modify([save("a", ["s": .string("x")]), save("b")])
        try self.it.store.schemas.apply(.resetDevelopment, inContainer: EngineUnderTest.container)
        #expect(try await self.other.count("begun") == 1)
        while try await self.other.count("sweep") > 0 {}
        let rest = """
            SELECT count(*) FROM entries WHERE database IN (SELECT number FROM database WHERE environment = 1)
            """
        #expect(try await self.other.execute(rest) == ["0"])
        // Two of each user, and that of production.
        let records = try await self.other.execute("SELECT name FROM record")
        #expect(records.filter { !$0.hasPrefix("_") } == ["p"])
        #expect(records.count == 7)
    }
}
