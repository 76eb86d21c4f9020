import Foundation
import GRDB

extension Migrations {
    /// Puts the order of changes into a table that a save only appends to, in place of an index.
    ///
    ///     change          (database, zone, position) -> changes up to that position, behind those
    ///                     of the row before
    ///     stale_change    positions in `change` that no record has any more, a row for a zone and
    ///                     a transaction
    ///
    /// Each entry of `change` is the last change of its record, or is in `stale_change`.
    static func migrateToFormat3(_ database: Database) throws {
        for statement in self.format3 { try database.execute(sql: statement) }
        try self.fillChanges(database)
        try database.execute(sql: "DROP INDEX record_order")
        try database.execute(sql: "PRAGMA user_version = 3")
    }

    private static let format3 = [
        """
        CREATE TABLE change (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            position INTEGER NOT NULL,
            entries BLOB NOT NULL,
            PRIMARY KEY (database, zone, position)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE stale_change (
            number INTEGER PRIMARY KEY,
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            positions BLOB NOT NULL
        ) STRICT
        """,
    ]

    private static func fillChanges(_ database: Database) throws {
        var zone: (database: Int64, number: Int64) = (0, 0)
        var block: [ChangeBlock.Entry] = []
        func writeBlock() throws {
            guard let last = block.last else { return }
            try database.execute(
                sql: ChangeQueries.insert,
                arguments: [zone.database, zone.number, last.position, Data(ChangeBlock.encode(block))]
            )
            block.removeAll(keepingCapacity: true)
        }
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT database, zone, position, number FROM record INDEXED BY record_order
                ORDER BY database, zone, position
                """
        )
        while let row = try rows.next() {
            let next: (database: Int64, number: Int64) = (row[0], row[1])
            if next != zone || block.count == ChangeBlock.entriesMax {
                try writeBlock()
                zone = next
            }
            block.append(ChangeBlock.Entry(position: row[2], record: row[3]))
        }
        try writeBlock()
    }
}
