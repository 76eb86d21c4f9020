extension Migrations {
    /// Adds assets, and what databases have in all.
    ///
    ///     asset        a number each, never used again; states: 0 uploading, 1 complete, 2 going:
    ///                  its file may be gone.
    ///                  `uploader` is whose upload it is, in public databases, and a participant's
    ///                  in private ones; 0 is the owner.
    ///                  `since_ms` is when the last record let go of it, or the last byte came;
    ///                  NULL while a record names it or it is going
    ///     asset_user   (asset, author): who has sent it, in public databases; in private ones a
    ///                  participant who has sent all of an upload
    ///     asset_use    (database, zone, record, asset): which records name it; found by asset as well
    ///
    /// A field that was declared as an asset had no type of values: now it has one.
    static let format6 = [
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
        "CREATE UNIQUE INDEX asset_uploading ON asset (database, sha256, size, uploader) WHERE state = 0",
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
        "ALTER TABLE database ADD COLUMN record_count INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE database ADD COLUMN record_bytes INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE database ADD COLUMN asset_count INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE database ADD COLUMN asset_bytes INTEGER NOT NULL DEFAULT 0",
        """
        UPDATE database SET (record_count, record_bytes) = (
            SELECT coalesce(sum(record_count), 0), coalesce(sum(byte_count), 0)
            FROM zone WHERE zone.database = database.number)
        """,
        // Declared as 3 an asset, as 4 a list of them; the types are 10 and 24.
        """
        UPDATE field SET type = CASE declared WHEN 3 THEN 10 ELSE 24 END, declared = 0
        WHERE declared IN (3, 4)
        """,
        "PRAGMA user_version = 6",
    ]
}
