internal import Foundation
internal import GRDB

/// The tables of the mirror itself; the format number rises with each change of them.
enum SystemTables {
    /// Milliseconds since 1970, in SQL that SQLite 3.40 has.
    static let nowMilliseconds = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"

    private static let sql = """
        CREATE TABLE tidemark_state (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            -- 1 only within a transaction of the mirror, so no other connection sees it.
            is_applying INTEGER NOT NULL DEFAULT 0,
            -- The number of the local transaction, for tidemark_pending.
            transaction_number INTEGER NOT NULL DEFAULT 1,
            installation TEXT NOT NULL,
            home TEXT NOT NULL,
            user TEXT,
            engine BLOB
        ) STRICT;
        CREATE TABLE tidemark_zone (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            is_created INTEGER NOT NULL DEFAULT 0,
            is_complete INTEGER NOT NULL DEFAULT 0,
            -- Records get the generation when they come; a sweep deletes those of older ones.
            generation INTEGER NOT NULL DEFAULT 1,
            is_sweeping INTEGER NOT NULL DEFAULT 0,
            -- How often the zone was fetched to its end.
            fetches INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE tidemark_table (type TEXT PRIMARY KEY, definition TEXT NOT NULL) STRICT;
        CREATE TABLE tidemark_record (
            zone INTEGER NOT NULL,
            name TEXT NOT NULL,
            type TEXT NOT NULL,
            generation INTEGER NOT NULL,
            ancestor BLOB NOT NULL,
            -- The zone's fetches when the record was saved from here; NULL if it came from others.
            saved_in INTEGER,
            PRIMARY KEY (zone, name)
        ) STRICT;
        CREATE TABLE tidemark_pending (
            zone INTEGER NOT NULL,
            name TEXT NOT NULL,
            type TEXT NOT NULL,
            first_transaction INTEGER NOT NULL,
            last_transaction INTEGER NOT NULL,
            changed_ms INTEGER NOT NULL,
            -- The order of a transaction that does not fit into a request; NULL if it does.
            position INTEGER,
            -- Of a change that the server has refused.
            error_code INTEGER,
            error TEXT,
            PRIMARY KEY (zone, name)
        ) STRICT;
        CREATE INDEX tidemark_pending_order ON tidemark_pending (first_transaction, position);
        -- Values that were sent without a response; the column is '' if it was a deletion.
        CREATE TABLE tidemark_sent (
            zone INTEGER NOT NULL,
            name TEXT NOT NULL,
            "column" TEXT NOT NULL,
            value ANY
        ) STRICT;
        CREATE INDEX tidemark_sent_record ON tidemark_sent (zone, name);
        CREATE TABLE tidemark_conflict (
            id INTEGER PRIMARY KEY,
            zone INTEGER NOT NULL,
            name TEXT NOT NULL,
            type TEXT NOT NULL,
            at_ms INTEGER NOT NULL,
            -- NULL if the whole record was concerned; the values are JSON then, and NULL if deleted.
            "column" TEXT,
            ancestor ANY,
            mine ANY,
            theirs ANY,
            winner TEXT NOT NULL CHECK (winner IN ('mine', 'theirs'))
        ) STRICT;
        """

    static func create(_ database: Database, home: String) throws {
        try database.execute(sql: self.sql)
        try database.execute(
            sql: "INSERT INTO tidemark_state (id, installation, home) VALUES (1, ?, ?)",
            arguments: [UUID().uuidString, home]
        )
        try database.execute(sql: "PRAGMA application_id = \(FileHeader.applicationID)")
        try database.execute(sql: "PRAGMA user_version = \(FileHeader.formatKnown)")
    }
}
