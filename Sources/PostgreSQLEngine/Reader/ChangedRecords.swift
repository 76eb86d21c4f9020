import RecordStore

/// A piece of the order of changes of a zone, with the record of each change.
///
/// A reader of changes asks for their records next, so one statement has both. The piece is shorter than
/// its limit if the bodies take more than a bound.
struct ChangedRecords {
    let rows: ResultRows

    static let sql = SQL(
        """
        SELECT \(RecordColumns.all), r.change_position, r.change_record FROM (
            SELECT c.position AS change_position, c.record AS change_record, s.*,
                sum(octet_length(s.body)) OVER (
                    ORDER BY c.position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
            FROM (
                SELECT database, zone, position, record FROM tidemark.change
                WHERE database = $1 AND zone = $2 AND position > $3 ORDER BY position LIMIT $4
            ) AS c
            LEFT JOIN tidemark.record AS s
                ON s.database = c.database AND s.zone = c.zone AND s.number = c.record
        ) AS r WHERE coalesce(r.before, 0) <= $5 ORDER BY r.change_position
        """
    )

    init(_ rows: ResultRows) { self.rows = rows }

    static func parameters(after position: Int64, in zone: ZoneKey, limit: Int) -> [SQLValue] {
        zone.parameters + [
            .integer(position), .integer(Int64(limit)), .integer(PostgreSQLSnapshot.pieceBytes),
        ]
    }

    var changes: [FeedChange] {
        (0..<self.rows.count).map {
            FeedChange(
                position: self.rows.integer($0, RecordColumns.count),
                record: self.rows.integer($0, RecordColumns.count + 1)
            )
        }
    }

    func records(on connection: PostgreSQLConnection) throws(StorageFailure) -> RecordRows {
        try RecordRows(self.rows, on: connection)
    }
}
