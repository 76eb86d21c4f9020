import RecordStore

/// The beginning of another epoch of every database, after commits may have gone that clients know of.
///
/// Every database gets an epoch that no token has, and a position that no change tag has
/// (`DatabaseEpoch`). Each subscription has news for every listener. Numbers of assets and of records
/// leave out those that commits may have had which are gone: files may be called after them.
enum NewEpoch {
    private static let numbersLeftOut: Int64 = 1_000_000

    private static let databases = SQL(
        """
        UPDATE tidemark."database" SET epoch = $1, position = greatest(position + 1, $2)
        """,
        reach: .directory
    )
    private static let cursorBytes = SQL(
        """
        UPDATE tidemark."database" AS d SET row_bytes = d.row_bytes - counted.bytes FROM (
            SELECT s.database AS number, count(*) * \(RowBytes.cursor) AS bytes
            FROM tidemark."listener_cursor" AS c
            JOIN tidemark."subscription" AS s ON s.number = c.subscription GROUP BY s.database
        ) AS counted WHERE d.number = counted.number
        """,
        reach: .directory
    )
    private static let others = [
        #"DELETE FROM tidemark."listener_cursor""#,
        // Installations have had changes that are gone, and must fetch everything anew.
        #"DELETE FROM tidemark."installation_seen""#,
        // Participants send their whole uploads again, as the files may be of other uploads.
        """
        DELETE FROM tidemark."asset_user" AS u USING tidemark."asset" AS a
        WHERE a.number = u.asset AND a.state = 0
        """,
        #"UPDATE tidemark."subscription" SET created_position = -1"#,
    ].map { SQL($0, reach: .directory) }
    private static let counters = SQL(
        "UPDATE tidemark.counter SET value = value + \(numbersLeftOut)",
        reach: .directory
    )

    /// Writes it into a transaction that has the whole store locked, without waiting.
    static func write(
        _ row: StoreRow,
        on connection: PostgreSQLConnection
    ) throws(PostgreSQLError) {
        try self.begin(nowMilliseconds: row.nowMilliseconds, on: connection)
        try connection.send(self.counters)
        var row = row
        row.generation &+= 1
        row.schemaVersion &+= 1
        row.lastRecord = row.lastRecord.adding(clamped: self.numbersLeftOut)
        try connection.send(StoreRow.write, row.parameters)
    }

    /// Begins it for clients alone, as the end of a move does: no number was given that is gone.
    ///
    /// Results of requests stay: what they say is in the tables.
    static func begin(
        nowMilliseconds now: Int64,
        on connection: PostgreSQLConnection
    ) throws(PostgreSQLError) {
        try connection.send(
            self.databases,
            [
                .integer(DatabaseEpoch.fresh(nowMilliseconds: now)),
                .integer(DatabaseEpoch.firstPosition(nowMilliseconds: now)),
            ]
        )
        try connection.send(self.cursorBytes)
        for statement in self.others { try connection.send(statement) }
    }
}
