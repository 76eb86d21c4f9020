import RecordModel
import RecordStore
import TestSupport
import Testing

/// Numbers in rows that no store wrote: an error of the requests that need them, and of nobody else.
@Suite(.timeLimit(.minutes(10)))
struct DamagedRowTests {
    /// A statement that damages rows, and whether alice can save after it.
    struct Damage: CustomStringConvertible, Sendable {
        var statement: String
        var saves: Bool

        var description: String { self.statement }

        init(
            _ column: String,
            of table: String,
            _ number: Int64,
            where condition: String? = nil,
            saves: Bool
        ) {
            let condition = condition.map { " WHERE \($0)" } ?? ""
            self.statement = "UPDATE @\(table) SET \(column) = \(number)\(condition)"
            self.saves = saves
        }
    }

    private static let all: [Damage] =
        [
            Damage("position", of: "database", .max, where: "number = ALICE", saves: false),
            Damage("position", of: "database", .max - 1, where: "number = ALICE", saves: false),
            Damage("position", of: "database", -5, where: "number = ALICE", saves: false),
            Damage("position", of: "record", .max, where: "name = 'b'", saves: true),
            Damage("position", of: "record", .min, where: "name = 'b'", saves: true),
            Damage("created_position", of: "record", .max, where: "name = 'b'", saves: true),
            Damage("created_ms", of: "record", .max, where: "name = 'b'", saves: true),
            Damage("modified_ms", of: "record", .min, where: "name = 'b'", saves: true),
            Damage("position", of: "zone", .max, saves: true),
            Damage("kinds", of: "hold", .max, saves: true),
            Damage("deleted_ms", of: "tombstone", .max, saves: true),
            Damage("position", of: "tombstone", .max, saves: true),
        ]
        + ["record_count", "record_bytes", "asset_count", "asset_bytes", "row_bytes"].flatMap { column in
            [Int64.max, .min].map {
                Damage(column, of: "database", $0, where: "number = ALICE", saves: true)
            }
        }
        + ["record_count", "byte_count", "row_bytes"].flatMap { column in
            [Int64.max, .min].map { Damage(column, of: "zone", $0, saves: true) }
        }

    private static func engine(_ kind: EngineKind) async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifyZones(["notes"], by: it.bobPrivately)
        #expect(
            try await it.modify([
                save("a", ["title": .string("a")]), save("gone"),
                save(
                    "b",
                    ["title": .string("b"), "of": reference("a", .validate)],
                    parent: .set(recordName: "a")
                ),
            ]).areSaved
        )
        _ = try await it.modify([], deletes: [id("gone")])
        return it
    }

    private static func damage(_ it: EngineUnderTest, _ damage: Damage) throws {
        let alice = "\(it.privately.database.rawValue)"
        try StoredRows(of: it).execute(damage.statement.replacing("ALICE", with: alice))
    }

    @Test(arguments: StoredRows.kinds)
    func `numbers that no store wrote fail requests, and not the process`(kind: EngineKind) async throws {
        let pristine = try await Self.engine(kind)
        await pristine.store.shutdown()
        for damage in Self.all {
            let before = try await Self.engine(kind)
            try Self.damage(before, damage)
            let it = try await before.reopened()
            let saved = try? await it.modify([save("new", ["title": .string("n")])])
            #expect((saved?.areSaved ?? false) == damage.saves, "\(damage): \(String(describing: saved))")
            _ = try? await it.changes(FeedRead(zone: notes))
            _ = try? await it.databaseChanges(DatabaseFeedRead())
            _ = try? await it.fetch([id("a"), id("b")])
            let sorted = Query(
                recordType: "Note",
                sort: [SortKey(field: "title"), SortKey(field: "___modTime")]
            )
            _ = try? await it.query(QueryRead(query: sorted, zone: notes))
            _ = try? await it.modify([save("b", ["title": .string("c")])], policy: .changedKeys)
            _ = try? await it.modify([], deletes: [id("b")])
            _ = try? await it.modifyZones([], deletes: ["notes"])
            _ = try? it.store.directory.usage(ofContainer: EngineUnderTest.container)
            #expect(
                try await it.modify([save("own")], by: it.bobPrivately).areSaved,
                "\(damage): another's database"
            )
            await it.store.shutdown()
        }
    }
}
