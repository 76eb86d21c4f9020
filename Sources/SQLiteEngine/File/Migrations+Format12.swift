import GRDB

extension Migrations {
    /// Makes the table of entries whose key is one blob, and has those of before copied into it.
    ///
    ///     index_entry     (key, record number): all indexes of all types, as `EntryKey` writes them
    ///     entry_copy      a row while entries are copied: the last one in `entry` that was
    ///
    /// Copying takes a while in a large file. `EntryCopy` does it while the store is used, and drops
    /// `entry` at its end.
    static func migrateToFormat12(_ database: Database) throws {
        for statement in self.format12 { try database.execute(sql: statement) }
        guard try Int.fetchOne(database, sql: "SELECT count(*) FROM entry_copy") == 0 else { return }
        try database.execute(sql: "DROP TABLE entry")
    }

    private static let format12 = [
        """
        CREATE TABLE index_entry (
            key BLOB NOT NULL,
            record INTEGER NOT NULL,
            PRIMARY KEY (key, record)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE entry_copy (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            field INTEGER NOT NULL,
            value BLOB NOT NULL,
            record INTEGER NOT NULL
        ) STRICT
        """,
        "INSERT INTO entry_copy SELECT -1, 0, 0, x'', 0 WHERE EXISTS (SELECT 1 FROM entry)",
        "PRAGMA user_version = 12",
    ]
}
