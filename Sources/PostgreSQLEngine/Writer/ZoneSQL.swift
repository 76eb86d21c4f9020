/// Statements of the writer on zones, and on usage of databases and users.
enum ZoneSQL {
    static let insertZone = SQL(
        """
        INSERT INTO tidemark."zone" (database, name, number, position, record_count, byte_count, row_bytes)
        VALUES ($1, $2, $3, $3, 0, 0, 0)
        """
    )

    static let contents = SQL(
        """
        SELECT record_count, byte_count, row_bytes FROM tidemark."zone" WHERE database = $1 AND number = $2
        """
    )

    static let deleteZone = SQL(
        #"DELETE FROM tidemark."zone" WHERE database = $1 AND number = $2"#
    )

    static let account = SQL(
        """
        SELECT e.container, d.owner FROM tidemark."database" AS d
        JOIN tidemark."environment" AS e ON e.number = d.environment WHERE d.number = $1
        """,
        reach: .directory
    )

    static let containerBytes = SQL(
        """
        SELECT coalesce(sum(d.record_bytes + d.asset_bytes + d.row_bytes), 0)::bigint
        FROM tidemark."environment" AS e JOIN tidemark."database" AS d ON d.environment = e.number
        WHERE e.container = $1
        """,
        reach: .directory
    )

    /// Bytes of the databases that the user owns: private and shared ones.
    static let userBytes = SQL(
        """
        SELECT coalesce(sum(d.record_bytes + d.asset_bytes + d.row_bytes), 0)::bigint
        FROM tidemark."user" AS u JOIN tidemark."environment" AS e ON e.container = u.container
        JOIN tidemark."database" AS d
            ON d.environment = e.number AND d.scope IN (2, 3) AND d.owner = u.number
        WHERE u.number = $1
        """,
        reach: .directory
    )
}
