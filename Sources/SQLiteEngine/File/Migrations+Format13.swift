/// The step to format 13 that histories need.
enum HistoryMigration {
    /// Adds histories of zones, and which containers keep one.
    ///
    ///     container    `history_days`: NULL if it keeps none; `history_since_ms`: when it began to
    ///     past         (database, zone, position) of a change -> who made it, and what it replaced
    ///     past_zone    where the history of a zone begins
    ///     past_removal zones whose history begins anew, and what they had is still there
    ///
    /// `past` has a row number as well: a body may take as much as a page, and a table without row numbers
    /// would leave half of each page free.
    static let statements = [
        "ALTER TABLE container ADD COLUMN history_days INTEGER",
        "ALTER TABLE container ADD COLUMN history_since_ms INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX container_history ON container (history_days) WHERE history_days IS NOT NULL",
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
    ]
}

/// The step to format 13 that explanations of records need.
enum DeliveryMigration {
    /// Adds the ledger of deliveries.
    ///
    ///     installation_seen   (database, zone, user, installation) -> how far an installation has
    ///                         followed a zone
    static let statements = [
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

/// The step to format 13 that keys which may only read need.
enum ReadOnlyKeyMigration {
    /// Adds `is_read_only` to `service_key`: a connection with such a key may change nothing.
    static let statements = [
        "ALTER TABLE service_key ADD COLUMN is_read_only INTEGER NOT NULL DEFAULT 0"
    ]
}
