extension Migrations {
    /// Databases, zones, records, and the order of their changes.
    static let recordTables = [
        """
        CREATE TABLE database (
            number INTEGER PRIMARY KEY,
            environment INTEGER NOT NULL,
            scope INTEGER NOT NULL,
            owner INTEGER NOT NULL,
            position INTEGER NOT NULL DEFAULT 0,
            epoch INTEGER NOT NULL DEFAULT 0,
            tombstones_gone_through INTEGER NOT NULL DEFAULT 0,
            record_count INTEGER NOT NULL DEFAULT 0,
            record_bytes INTEGER NOT NULL DEFAULT 0,
            asset_count INTEGER NOT NULL DEFAULT 0,
            asset_bytes INTEGER NOT NULL DEFAULT 0,
            row_bytes INTEGER NOT NULL DEFAULT 0,
            UNIQUE (environment, scope, owner)
        ) STRICT
        """,
        """
        CREATE TABLE zone (
            database INTEGER NOT NULL,
            name TEXT NOT NULL,
            number INTEGER NOT NULL,
            position INTEGER NOT NULL DEFAULT 0,
            record_count INTEGER NOT NULL DEFAULT 0,
            byte_count INTEGER NOT NULL DEFAULT 0,
            target_database INTEGER,
            target_zone INTEGER,
            client_token BLOB,
            row_bytes INTEGER NOT NULL DEFAULT 0,
            encryption_scope INTEGER,
            PRIMARY KEY (database, name)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE UNIQUE INDEX zone_number ON zone (database, number)",
        """
        CREATE UNIQUE INDEX zone_target ON zone (database, target_database, target_zone)
        WHERE target_database IS NOT NULL
        """,
        """
        CREATE TABLE record (
            number INTEGER PRIMARY KEY,
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            name TEXT NOT NULL,
            type INTEGER NOT NULL,
            position INTEGER NOT NULL,
            created_ms INTEGER NOT NULL,
            modified_ms INTEGER NOT NULL,
            creator INTEGER NOT NULL,
            modifier INTEGER NOT NULL,
            parent TEXT,
            body BLOB NOT NULL,
            created_position INTEGER NOT NULL DEFAULT 0,
            UNIQUE (database, zone, name)
        ) STRICT
        """,
        "CREATE INDEX record_creation ON record (database, zone)",
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
        """
        CREATE TABLE tombstone (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            name TEXT NOT NULL,
            position INTEGER NOT NULL,
            type INTEGER NOT NULL,
            deleted_ms INTEGER NOT NULL DEFAULT 0,
            creator INTEGER NOT NULL DEFAULT 0,
            share INTEGER,
            PRIMARY KEY (database, zone, name)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE UNIQUE INDEX tombstone_order ON tombstone (database, zone, position)",
        """
        CREATE TABLE zone_tombstone (
            database INTEGER NOT NULL,
            position INTEGER NOT NULL,
            name TEXT NOT NULL,
            number INTEGER NOT NULL,
            deleted_ms INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (database, position)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE hold (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            target TEXT NOT NULL,
            holder TEXT NOT NULL,
            kinds INTEGER NOT NULL,
            PRIMARY KEY (database, zone, target, holder)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE request (
            database INTEGER NOT NULL,
            id BLOB NOT NULL,
            outcome BLOB NOT NULL,
            PRIMARY KEY (database, id)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE sweep (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            byte_count INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (database, zone)
        ) STRICT, WITHOUT ROWID
        """,
    ]
}
