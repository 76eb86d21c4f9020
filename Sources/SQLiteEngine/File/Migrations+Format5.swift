extension Migrations {
    /// Adds subscriptions, and what installations have acknowledged of them.
    ///
    ///     subscription      a number each; unique by (database, owner, ID), and by (database,
    ///                       owner, definition): there are no duplicates; found by (database,
    ///                       zone), with which they go
    ///     listener_cursor   (subscription, installation) -> the position of the last notification
    ///                       that was acknowledged
    static let format5 = [
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
        "PRAGMA user_version = 5",
    ]
}
