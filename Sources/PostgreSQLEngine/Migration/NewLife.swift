import RecordStore

/// The statements that begin another life of every database, as the end of a restore and of a move does.
///
/// Each database gets an epoch that no earlier token has, and a position that no earlier change tag has
/// (`DatabaseEpoch`). Each subscription has news for every listener. Results of requests stay: what they
/// say is in the tables.
enum NewLife {
    static func send(
        on connection: PostgreSQLConnection,
        nowMilliseconds now: Int64
    ) throws(PostgreSQLError) {
        let epoch = DatabaseEpoch.fresh(nowMilliseconds: now)
        let position = DatabaseEpoch.firstPosition(nowMilliseconds: now)
        try connection.send(self.databases, [.integer(epoch), .integer(position)])
        try connection.send(self.cursorBytes, [.integer(Int64(RowBytes.cursor))])
        for statement in self.removals { try connection.send(statement) }
    }

    private static let databases = SQL(
        #"UPDATE tidemark."database" SET epoch = $1, position = greatest(position + 1, $2)"#,
        reach: .store
    )

    private static let cursorBytes = SQL(
        """
        UPDATE tidemark."database" AS d SET row_bytes = d.row_bytes - counted.bytes FROM (
            SELECT s.database AS number, count(*) * $1::bigint AS bytes FROM tidemark."listener_cursor" AS c
            JOIN tidemark."subscription" AS s ON s.number = c.subscription GROUP BY s.database
        ) AS counted WHERE d.number = counted.number
        """,
        reach: .store
    )

    private static let removals = [
        #"DELETE FROM tidemark."listener_cursor""#,
        // Installations have had changes that are gone, and must fetch everything anew.
        #"DELETE FROM tidemark."installation_seen""#,
        // What participants had sent whole of an upload is to be sent again.
        """
        DELETE FROM tidemark."asset_user" WHERE asset IN (
            SELECT number FROM tidemark."asset" WHERE state = 0
        )
        """,
        #"UPDATE tidemark."subscription" SET created_position = -1"#,
    ].map { SQL($0, reach: .store) }
}
