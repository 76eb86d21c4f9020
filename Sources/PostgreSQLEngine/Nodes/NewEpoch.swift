import StorageContract

/// Begins another epoch of every database, after acknowledged commits may have been lost.
///
/// Every database gets an epoch that no token has, and a position that no change tag has
/// (`DatabaseEpoch`). Each subscription has changes for every listener. Numbers of assets and
/// records skip those that lost commits may have used: files may be named after them.
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
        // Installations have seen changes that are lost, and must fetch everything again.
        #"DELETE FROM tidemark."installation_seen""#,
        // Participants send their whole uploads again, as the files may belong to other uploads.
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

    /// Writes it in a transaction that has locked the whole store, without waiting.
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

    /// Begins it for clients alone, as at the end of a move: no assigned number is lost.
    ///
    /// Results of requests are kept, since the tables have their changes.
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
