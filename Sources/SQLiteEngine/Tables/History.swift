extension Migrations {
    /// Histories of zones, and the positions of installations in them.
    static let historyTables = [
        """
        CREATE TABLE past (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            position INTEGER NOT NULL,
            changed_ms INTEGER NOT NULL,
            author INTEGER NOT NULL,
            installation BLOB,
            kind INTEGER NOT NULL,
            record INTEGER NOT NULL,
            name TEXT NOT NULL,
            type INTEGER NOT NULL,
            before INTEGER,
            created_ms INTEGER NOT NULL,
            modified_ms INTEGER NOT NULL,
            creator INTEGER NOT NULL,
            modifier INTEGER NOT NULL,
            parent TEXT,
            body BLOB NOT NULL,
            PRIMARY KEY (database, zone, position)
        ) STRICT
        """,
        """
        CREATE TABLE past_zone (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            since INTEGER NOT NULL,
            since_ms INTEGER NOT NULL,
            life INTEGER NOT NULL,
            PRIMARY KEY (database, zone)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE past_removal (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            PRIMARY KEY (database, zone)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE installation_seen (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            user TEXT NOT NULL,
            installation BLOB NOT NULL,
            position INTEGER NOT NULL,
            sent INTEGER NOT NULL,
            skipped INTEGER NOT NULL,
            at_ms INTEGER NOT NULL,
            PRIMARY KEY (database, zone, user, installation)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX installation_seen_time ON installation_seen (database, zone, at_ms)",
        "CREATE INDEX installation_seen_user ON installation_seen (user)",
    ]
}
