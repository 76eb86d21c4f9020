import Administration
import Foundation
import PostgreSQLCluster
import SQLiteEngine
import StorageContract
import TestSupport
import Testing

@testable import PostgreSQLEngine
@testable import RecordStore

/// Stores that move from SQLite to PostgreSQL and back, row by row.
@Suite(.timeLimit(.minutes(10)))
struct MoveTests {
    private static let identity = [UInt8](repeating: 7, count: 16)

    /// A folder with a file that has these rows, as no engine has seen it.
    private static func folder(with store: RandomStore) async throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        let filled = try SQLiteFilledStore(in: folder.path)
        for table in Table.moved {
            try filled.add(store.rows[table.name] ?? [], to: table)
        }
        filled.close()
        // Not completed, as that would begin another life and remove some of the rows.
        try FileManager.default.moveItem(
            atPath: folder.path + "/tidemark.sqlite.unfinished",
            toPath: folder.path + "/tidemark.sqlite"
        )
        let numbers =
            "UPDATE index_counter SET last = 77; UPDATE sqlite_sequence SET seq = 1 << 62 WHERE name = 'share'"
        _ = try await Self.python(
            "import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).executescript("
                + "'PRAGMA application_id = 0; \(numbers.replacing("'", with: "\\'"))')",
            folder
        )
        try PageSums.restore(inFile: folder.path + "/tidemark.sqlite")
        return folder
    }

    private static func python(_ script: String, _ folder: TemporaryDirectory) async throws -> String {
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            ["-c", script, folder.path + "/tidemark.sqlite"]
        )
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        return outcome.output
    }

    /// All rows of all tables, read by a program that is none of ours.
    ///
    /// Left out is what a new life changes, and blocks of changes, which may be cut elsewhere.
    private static func dump(_ folder: TemporaryDirectory) async throws -> [String] {
        let script = """
            import sqlite3, sys
            masked = {"database": ("epoch", "position", "row_bytes"), "subscription": ("created_position",)}
            connection = sqlite3.connect(sys.argv[1])
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for name in sorted(names):
                if name in ("change", "grdb_migrations", "listener_cursor", "installation_seen", "asset_user"): continue
                columns = [row[1] for row in connection.execute(f"PRAGMA table_info('{name}')")]
                kept = sorted(column for column in columns if column not in masked.get(name, ()))
                rows = connection.execute(f"SELECT {', '.join(kept)} FROM {name}").fetchall()
                for row in sorted(rows, key=ascii): print(name, ascii(row))
            """
        return try await self.python(script, folder).split(separator: "\n").map(String.init)
    }

    /// Moves what a store has, as the command does.
    private static func move(
        _ source: any MovedStore,
        _ target: any FilledStore
    ) throws -> [StoreMove.Compared] {
        var move = StoreMove(from: source, to: target, showProgress: { _, _ in })
        try move.copy()
        let compared = try move.compare()
        try target.complete(lastNumbers: try source.lastNumbers(), nowMilliseconds: 1_800_000_000_000)
        target.close()
        return compared
    }

    private static func emptyDatabase() throws -> ConnectionTarget {
        let cluster = try PostgreSQLCluster.running()
        return try cluster.target(database: cluster.emptyDatabase())
    }

    @Test
    func `rows of every table go to PostgreSQL and back`() async throws {
        let seed = SeededGenerator.fromEnvironment().seed
        let store = RandomStore(seed: seed)
        let folder = try await Self.folder(with: store)
        let before = try await Self.dump(folder)
        let target = try Self.emptyDatabase()
        let source = try SQLiteMovedStore(in: folder.path)
        let there = try Self.move(source, PostgreSQLFilledStore(target, identity: Self.identity))
        for compared in there {
            #expect(compared.rows == store.rows[compared.table]?.count, "\(compared.table), seed \(seed)")
        }
        #expect(there.count == Table.moved.count)
        source.close()
        let back = try TemporaryDirectory()
        let moved = try PostgreSQLMovedStore(target)
        #expect(moved.identity == Self.identity)
        let here = try Self.move(moved, SQLiteFilledStore(in: back.path))
        // A new life has changed some rows in between.
        let changed: Set = ["database", "subscription", "listener_cursor", "installation_seen", "asset_user"]
        for (first, second) in zip(there, here) where !changed.contains(first.table) {
            #expect(first == second, "seed \(seed)")
        }
        let after = try await Self.dump(back)
        #expect(before.count == after.count && before.count > 8_000)
        for (first, second) in zip(before, after) where first != second {
            Issue.record("\(first.prefix(300)) became \(second.prefix(300)), seed \(seed)")
            break
        }
        _ = try moved.retire()
        #expect(try PostgreSQLEngine.identity(target) == nil)
        // The engine keeps of each number at least the last one that was given.
        #expect(before.contains("index_counter (77,)"))
    }

    @Test
    func `a move goes on behind the last row of each table`() async throws {
        let store = RandomStore(seed: 11)
        let folder = try await Self.folder(with: store)
        let target = try Self.emptyDatabase()
        let source = try SQLiteMovedStore(in: folder.path)
        defer { source.close() }
        var generator = SeededGenerator(seed: 12)
        let first = try PostgreSQLFilledStore(target, identity: Self.identity)
        for table in Table.moved {
            let rows = store.rows[table.name] ?? []
            let part = Array(rows.prefix(Int.random(in: 0...rows.count, using: &generator)))
            if !part.isEmpty { try first.add(part, to: table) }
        }
        // No engine serves it, and no other move takes it.
        #expect(throws: PostgreSQLEngineError.moveIsUnfinished(target: target.text)) {
            try PostgreSQLEngine.prepare(target)
        }
        #expect(throws: StoreMoveError.isOfAnotherMove) {
            _ = try PostgreSQLFilledStore(target, identity: [1])
        }
        let compared = try Self.move(source, PostgreSQLFilledStore(target, identity: Self.identity))
        for table in compared { #expect(table.rows == store.rows[table.table]?.count) }
        #expect(throws: StoreMoveError.isNotEmpty) {
            _ = try PostgreSQLFilledStore(target, identity: Self.identity)
        }
    }

    @Test(arguments: ["record", "index_entry", "past", "user", "change"])
    func `a row that differs is found and named`(name: String) async throws {
        let folder = try await Self.folder(with: RandomStore(seed: 21))
        let target = try Self.emptyDatabase()
        let source = try SQLiteMovedStore(in: folder.path)
        defer { source.close() }
        func move() throws -> StoreMove {
            StoreMove(
                from: source,
                to: try PostgreSQLFilledStore(target, identity: Self.identity),
                showProgress: { _, _ in }
            )
        }
        var first = try move()
        try first.copy()
        let table = try #require(Table.moved.first { $0.name == name })
        let last = table.columns[table.columns.count - 1]
        let column = last.name
        let connection = try PostgreSQLConnection(target)
        let value = last.kind == .integer ? "COALESCE(\(column), 0) + 1" : "'\\x00'"
        let key = table.columns[table.key.columns[0]].name
        _ = try connection.query(
            SQL(
                """
                UPDATE tidemark."\(name)" SET \(column) = \(value)
                WHERE \(key) = (SELECT max(\(key)) FROM tidemark."\(name)")
                """,
                reach: .store
            )
        )
        let fault = #expect(throws: StoreMoveFault.self) { _ = try first.compare() }
        guard case .differs(name, let row)? = fault else {
            Issue.record("the row is not named: \(String(describing: fault))")
            return
        }
        #expect(row.hasPrefix("\(key) "))
        // And a row that is missing.
        var second = try move()
        _ = try connection.query(SQL("DELETE FROM tidemark.\"\(name)\"", reach: .store))
        #expect(throws: StoreMoveFault.self) { _ = try second.compare() }
    }

    @Test
    func `every table of a file and of a database moves, or is known to stay`() async throws {
        let folder = try await Self.folder(with: RandomStore(seed: 31))
        let names = try await Self.python(
            """
            import sqlite3, sys
            rows = sqlite3.connect(sys.argv[1]).execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            print(*[row[0] for row in rows], sep="\\n")
            """,
            folder
        )
        let moved = Set(Table.moved.map(\.name))
        let staysInFile: Set = [
            "stale_change", "index_counter", "entry_copy", "grdb_migrations", "sqlite_sequence",
        ]
        #expect(Set(names.split(separator: "\n").map(String.init)).subtracting(staysInFile) == moved)
        let target = try Self.emptyDatabase()
        try PostgreSQLEngine.prepare(target)
        let rows = try PostgreSQLConnection(target).query(
            SQL(
                "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'tidemark'::regnamespace",
                reach: .store
            )
        )
        let tables = Set((0..<rows.count).map { rows.text($0, 0) })
        #expect(tables.subtracting(["store", "counter", "node", "cluster"]) == moved)
    }
}
