extension Migrations {
    /// Names who made a pending change of shared databases by server run and connection, and keeps
    /// expired tokens of readers with the zone that they read.
    ///
    ///     share_news      `origin`: a `ChangeOrigin`, or NULL if several made it or nobody
    ///     view_refresh    `origin`: the same
    ///     share_expiry    `through`: tokens that a reader has of a zone are good from this position on
    ///
    /// Before, `origin` was the number of a connection of one run, and `through` stood in the row that
    /// the zone has in the reader's database. Nobody can say which run a number was of.
    static let format11 = [
        "ALTER TABLE share_news RENAME TO share_news_10",
        "CREATE TABLE share_news (share INTEGER PRIMARY KEY, origin BLOB) STRICT",
        "INSERT INTO share_news (share) SELECT share FROM share_news_10",
        "DROP TABLE share_news_10",
        "ALTER TABLE view_refresh ADD COLUMN origin BLOB",
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
        INSERT INTO share_expiry (database, zone, reader, through)
        SELECT target_database, target_zone, database, expired_through FROM zone
        WHERE target_database IS NOT NULL
        """,
        "ALTER TABLE zone DROP COLUMN expired_through",
        "PRAGMA user_version = 11",
    ]
}
