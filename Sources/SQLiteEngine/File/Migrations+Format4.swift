extension Migrations {
    /// Adds what feeds need.
    ///
    /// Earlier records count as created at position 0: no earlier feed knows one. Their deletions
    /// count as of now, and as of records that nobody created.
    static let format4 = [
        "ALTER TABLE record ADD COLUMN created_position INTEGER NOT NULL DEFAULT 0",
        // The number of the record stands at the end of every entry by itself.
        "CREATE INDEX record_creation ON record (database, zone)",
        "ALTER TABLE zone ADD COLUMN position INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE zone ADD COLUMN record_count INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE zone ADD COLUMN byte_count INTEGER NOT NULL DEFAULT 0",
        "CREATE UNIQUE INDEX zone_number ON zone (database, number)",
        "ALTER TABLE tombstone ADD COLUMN deleted_ms INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE tombstone ADD COLUMN creator INTEGER NOT NULL DEFAULT 0",
        "UPDATE tombstone SET deleted_ms = unixepoch() * 1000",
        "CREATE UNIQUE INDEX tombstone_order ON tombstone (database, zone, position)",
        "ALTER TABLE zone_tombstone ADD COLUMN deleted_ms INTEGER NOT NULL DEFAULT 0",
        "UPDATE zone_tombstone SET deleted_ms = unixepoch() * 1000",
        "ALTER TABLE database ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE database ADD COLUMN tombstones_gone_through INTEGER NOT NULL DEFAULT 0",
        """
        UPDATE zone SET (record_count, byte_count, position) = (
            SELECT count(*), coalesce(sum(length(body)), 0), max(zone.number, coalesce(max(position), 0))
            FROM record WHERE record.database = zone.database AND record.zone = zone.number)
        """,
        """
        UPDATE zone SET position = max(position, coalesce((
            SELECT max(position) FROM tombstone
            WHERE tombstone.database = zone.database AND tombstone.zone = zone.number), 0))
        """,
        "PRAGMA user_version = 4",
    ]
}
