import RecordStore

extension Migrations {
    /// Counts what rows take beside bodies and assets (`RowBytes`).
    ///
    ///     zone        `row_bytes`: of its contents
    ///     database    `row_bytes`: of its zones, their contents and all else that it has
    ///     sweep       `byte_count`: what the zone had, which counts as rows of its database until
    ///                 it is swept
    ///
    /// What zones had that are being swept meanwhile does not count.
    static let format10 =
        [
            "ALTER TABLE zone ADD COLUMN row_bytes INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE database ADD COLUMN row_bytes INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE sweep ADD COLUMN byte_count INTEGER NOT NULL DEFAULT 0",
        ]
        + [
            Self.count("record", RowBytes.SQL.record), Self.count("tombstone", RowBytes.SQL.tombstone),
            Self.count("entry", RowBytes.SQL.entry), Self.count("hold", RowBytes.SQL.reference),
            Self.count("asset_use", RowBytes.SQL.assetUse), Self.count("share", RowBytes.SQL.share),
            Self.count("share_token", RowBytes.SQL.shareToken),
            Self.count("cover_change", RowBytes.SQL.coverChange),
        ]
        + [
            Self.countOfDatabases("zone", "row_bytes + \(RowBytes.SQL.zone)"),
            Self.countOfDatabases("zone_tombstone", RowBytes.SQL.zoneTombstone),
            Self.countOfDatabases("request", RowBytes.SQL.request),
            Self.countOfDatabases("subscription", RowBytes.SQL.subscription),
            Self.countOfDatabases(
                "subscription JOIN listener_cursor ON listener_cursor.subscription = number",
                RowBytes.SQL.cursor
            ),
            Self.countOfDatabases("asset", RowBytes.SQL.asset, where: "state IN (0, 1)"),
            "PRAGMA user_version = 10",
        ]

    /// Each table is read once, in the order of its key or of an index.
    private static func count(_ table: String, _ bytes: String) -> String {
        """
        UPDATE zone SET row_bytes = row_bytes + counted.bytes FROM (
            SELECT database, zone, sum(\(bytes)) AS bytes FROM \(table) GROUP BY database, zone
        ) AS counted WHERE zone.database = counted.database AND zone.number = counted.zone
        """
    }

    private static func countOfDatabases(
        _ table: String,
        _ bytes: String,
        where condition: String = "1"
    ) -> String {
        """
        UPDATE database SET row_bytes = row_bytes + counted.bytes FROM (
            SELECT database, sum(\(bytes)) AS bytes FROM \(table) WHERE \(condition) GROUP BY database
        ) AS counted WHERE database.number = counted.database
        """
    }
}
