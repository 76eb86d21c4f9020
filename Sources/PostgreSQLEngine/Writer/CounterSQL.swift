import StorageContract

/// Statements of the writer on positions and counters.
enum CounterSQL {
    /// A counter, or the nearest usable number: a damaged counter makes no request fail.
    private static func counted(_ column: String) -> String {
        "greatest(least(\(column), \(Int64.countedMax)), -\(Int64.countedMax))"
    }

    static let lockDatabases = SQL(
        """
        SELECT number, position FROM tidemark."database" WHERE number = ANY($1::bigint[])
        ORDER BY number FOR UPDATE
        """,
        reach: .directory
    )

    static let positions = SQL(
        #"SELECT number, position FROM tidemark."database" WHERE number = ANY($1::bigint[])"#,
        reach: .directory
    )

    static let lastChange = SQL(
        #"SELECT coalesce(max(position), 0) FROM tidemark."zone" WHERE database = $1 AND name <> $2"#
    )

    static let growDatabases = SQL(
        """
        UPDATE tidemark."database" AS d SET position = greatest(d.position, u.position),
            record_count = \(counted("d.record_count")) + u.records,
            record_bytes = \(counted("d.record_bytes")) + u.record_bytes,
            asset_count = \(counted("d.asset_count")) + u.assets,
            asset_bytes = \(counted("d.asset_bytes")) + u.asset_bytes,
            row_bytes = \(counted("d.row_bytes")) + u.row_bytes
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
            $7::bigint[])
            AS u(number, position, records, record_bytes, assets, asset_bytes, row_bytes)
        WHERE d.number = u.number
        """,
        reach: .directory
    )

    static let growZones = SQL(
        """
        UPDATE tidemark."zone" AS z SET position = greatest(z.position, u.position),
            record_count = \(counted("z.record_count")) + u.records,
            byte_count = \(counted("z.byte_count")) + u.record_bytes,
            row_bytes = \(counted("z.row_bytes")) + u.row_bytes
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
            AS u(database, number, position, records, record_bytes, row_bytes)
        WHERE z.database = u.database AND z.number = u.number
        """,
        reach: .directory
    )
}
