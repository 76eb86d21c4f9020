import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

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

    private static func engine(
        _ kind: EngineKind,
        configure: (inout EngineSettings) -> Void = { _ in }
    ) async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(kind, configure: configure)
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
            _ = try? it.newUser("carol", 0xca401)
            #expect(
                try await it.modify([save("own")], by: it.bobPrivately).areSaved,
                "\(damage): another's database"
            )
            await it.store.shutdown()
        }
    }

    @Test(arguments: StoredRows.kinds)
    func `a version of credentials that no store wrote fails sign-ins, and not the process`(
        kind: EngineKind
    ) async throws {
        let before = try await Self.engine(kind)
        try Self.damage(before, Damage("credential_version", of: "user", .max, saves: false))
        await #expect(throws: DirectoryError.unavailable) { try await before.reopened() }
    }

    @Test(arguments: StoredRows.kinds)
    func `counters that no store wrote don't end the process where quotas read them`(
        kind: EngineKind
    ) async throws {
        func quotas(_ settings: inout EngineSettings) {
            settings.quotas = StorageQuotas(userBytes: 1 << 40, containerBytes: 1 << 40)
        }
        for column in ["record_bytes", "asset_bytes", "row_bytes"] {
            for number in [Int64.max, .min] {
                let before = try await Self.engine(kind, configure: quotas)
                try Self.damage(
                    before,
                    Damage(column, of: "database", number, where: "number = ALICE", saves: true)
                )
                let it = try await before.reopened(configure: quotas)
                _ = try? await it.modify([save("new", ["title": .string("n")])])
                _ = try? await it.modifyZones(["new"])
                _ = try? await it.begin([file(1)])
                _ = try? await it.modify([], deletes: [id("b")])
                _ = try? it.store.directory.usage(ofContainer: EngineUnderTest.container)
                #expect(try await it.fetch([id("a")]).count == 1, "\(column) \(number)")
                await it.store.shutdown()
            }
        }
    }

    @Test(arguments: [UInt8(0x00), 0x7F, 0xFF])
    func `an order of changes that no store wrote fails its feed, and not the process`(
        byte: UInt8
    ) async throws {
        let before = try await Self.engine(.sqlite)
        let digits = String(repeating: byte < 16 ? "00" : String(byte, radix: 16), count: 40)
        try StoredRows(of: before).execute("UPDATE @change SET entries = X'\(digits)'")
        let it = try await before.reopened()
        _ = try? await it.changes(FeedRead(zone: notes))
        _ = try? await it.modify([save("a", ["title": .string("c")])], policy: .changedKeys)
        _ = try? await it.modify([], deletes: [id("b")])
        #expect(try await it.modify([save("own")], by: it.bobPrivately).areSaved)
        #expect(try await it.fetch([id("a")]).count == 1)
    }
}
