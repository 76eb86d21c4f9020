import RecordStore

/// A piece of the order of changes of a zone, with the record of each change.
///
/// A reader of changes asks for their records next, so one statement has both, but for records that are
/// larger than their share (`ListedRecords`).
struct ChangedRecords {
    let rows: ResultRows

    static let sql = SQL(
        """
        SELECT \(RecordColumns.all(upTo: "$5")), c.position, c.record FROM (
            SELECT database, zone, position, record FROM tidemark.change
            WHERE database = $1 AND zone = $2 AND position > $3 ORDER BY position LIMIT $4
        ) AS c
        LEFT JOIN tidemark.record AS r
            ON r.database = c.database AND r.zone = c.zone AND r.number = c.record
        ORDER BY c.position
        """
    )

    init(_ rows: ResultRows) { self.rows = rows }

    static func parameters(after position: Int64, in zone: ZoneKey, limit: Int) -> [SQLValue] {
        zone.parameters + [
            .integer(position), .integer(Int64(limit)), .integer(ListedRecords.share(of: limit)),
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
