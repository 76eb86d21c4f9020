extension Migrations {
    /// Assets, subscriptions, and installations' acknowledgements.
    static let assetTables = [
        """
        CREATE TABLE asset (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            database INTEGER NOT NULL,
            sha256 BLOB NOT NULL,
            size INTEGER NOT NULL,
            state INTEGER NOT NULL,
            uploader INTEGER NOT NULL,
            since_ms INTEGER
        ) STRICT
        """,
        "CREATE UNIQUE INDEX asset_complete ON asset (database, sha256, size) WHERE state = 1",
        """
        CREATE UNIQUE INDEX asset_uploading ON asset (database, sha256, size, uploader)
        WHERE state = 0
        """,
        "CREATE INDEX asset_unnamed ON asset (since_ms) WHERE since_ms IS NOT NULL",
        "CREATE INDEX asset_going ON asset (number) WHERE state = 2",
        """
        CREATE TABLE asset_user (
            asset INTEGER NOT NULL,
            author INTEGER NOT NULL,
            PRIMARY KEY (asset, author)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE asset_use (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            record INTEGER NOT NULL,
            asset INTEGER NOT NULL,
            PRIMARY KEY (database, zone, record, asset)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX asset_use_asset ON asset_use (asset)",
        """
        CREATE TABLE subscription (
            number INTEGER PRIMARY KEY,
            database INTEGER NOT NULL,
            owner INTEGER NOT NULL,
            id TEXT NOT NULL,
            position INTEGER NOT NULL,
            created_position INTEGER NOT NULL,
            zone INTEGER,
            definition BLOB NOT NULL,
            info BLOB,
            UNIQUE (database, owner, id),
            UNIQUE (database, owner, definition)
        ) STRICT
        """,
        "CREATE INDEX subscription_zone ON subscription (database, zone) WHERE zone IS NOT NULL",
        """
        CREATE TABLE listener_cursor (
            subscription INTEGER NOT NULL,
            installation BLOB NOT NULL,
            position INTEGER NOT NULL,
            PRIMARY KEY (subscription, installation)
        ) STRICT, WITHOUT ROWID
        """,
    ]
}
