extension Migrations {
    /// Adds shares, their readers, and share membership of records (`Sources/RecordStore/SHARING.md`).
    ///
    ///     share            a share that is there; `root` is NULL when the zone is shared as a whole
    ///     share_token      what URLs lead to; the row of a root, with participant '', stays when
    ///                      its share goes, and goes with the root
    ///     share_reader     who has joined: `reader` is a shared database; `since` is of no account
    ///     cover            the share of a record; of one that is gone it means nothing
    ///     cover_change     kind: 0 the record left the share, 1 it came under it
    ///     share_news       shares whose readers are to be told
    ///     view_refresh     rows of shared databases that may be wrong
    ///     share_removal    shares that are gone and have covers left
    ///     zone             `target_*` lead from a shared database to the owner's zone
    ///     tombstone        `share`: what covered the record
    static let format8 =
        [
            """
            CREATE TABLE share (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                database INTEGER NOT NULL,
                zone INTEGER NOT NULL,
                name TEXT NOT NULL,
                root TEXT,
                UNIQUE (database, zone, name)
            ) STRICT
            """,
            """
            CREATE TABLE share_token (
                token TEXT PRIMARY KEY,
                database INTEGER NOT NULL,
                zone INTEGER NOT NULL,
                root TEXT NOT NULL,
                participant TEXT NOT NULL,
                UNIQUE (database, zone, root, participant)
            ) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE share_reader (
                reader INTEGER NOT NULL,
                share INTEGER NOT NULL,
                permission INTEGER NOT NULL,
                role INTEGER NOT NULL,
                since INTEGER NOT NULL,
                PRIMARY KEY (reader, share)
            ) STRICT, WITHOUT ROWID
            """,
            "CREATE INDEX share_reader_share ON share_reader (share)",
            """
            CREATE TABLE cover (
                record INTEGER PRIMARY KEY,
                share INTEGER NOT NULL,
                since INTEGER NOT NULL
            ) STRICT
            """,
            "CREATE INDEX cover_share ON cover (share)",
            """
            CREATE TABLE cover_change (
                database INTEGER NOT NULL,
                zone INTEGER NOT NULL,
                position INTEGER NOT NULL,
                share INTEGER NOT NULL,
                kind INTEGER NOT NULL,
                record INTEGER NOT NULL,
                name TEXT NOT NULL,
                type INTEGER NOT NULL,
                PRIMARY KEY (database, zone, position)
            ) STRICT, WITHOUT ROWID
            """,
        ] + format8Views

    private static let format8Views = [
        "CREATE TABLE share_news (share INTEGER PRIMARY KEY, origin INTEGER NOT NULL) STRICT",
        """
        CREATE TABLE view_refresh (
            reader INTEGER NOT NULL,
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            PRIMARY KEY (reader, database, zone)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE share_removal (share INTEGER PRIMARY KEY) STRICT",
        "ALTER TABLE zone ADD COLUMN target_database INTEGER",
        "ALTER TABLE zone ADD COLUMN target_zone INTEGER",
        "ALTER TABLE zone ADD COLUMN expired_through INTEGER NOT NULL DEFAULT 0",
        """
        CREATE UNIQUE INDEX zone_target ON zone (database, target_database, target_zone)
        WHERE target_database IS NOT NULL
        """,
        "ALTER TABLE tombstone ADD COLUMN share INTEGER",
        """
        CREATE TABLE user_contact (
            container INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            value TEXT NOT NULL,
            user INTEGER NOT NULL,
            PRIMARY KEY (container, kind, value)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX user_contact_user ON user_contact (user)",
        "PRAGMA user_version = 8",
    ]
}
