extension Migrations {
    /// Shares, their readers, and the records below them.
    static let sharingTables = [
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
        "CREATE TABLE share_news (share INTEGER PRIMARY KEY, origin BLOB) STRICT",
        """
        CREATE TABLE share_expiry (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            reader INTEGER NOT NULL,
            through INTEGER NOT NULL,
            PRIMARY KEY (database, zone, reader)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE view_refresh (
            reader INTEGER NOT NULL,
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            origin BLOB,
            PRIMARY KEY (reader, database, zone)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE share_removal (share INTEGER PRIMARY KEY) STRICT",
    ]
}
