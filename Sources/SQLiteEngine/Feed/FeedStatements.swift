/// The statements of feeds on one connection, compiled once.
final class FeedStatements {
    let ascending, descending, fromNumber, byNumber, byName, positions: HotStatement
    let changes, deletions, zones, zoneDeletions: HotStatement

    /// After the columns of a record.
    static let nameColumn = RecordColumns.count
    /// Of `fromNumber`, which reads records of all zones.
    static let databaseColumn = nameColumn + 1
    static let zoneColumn = nameColumn + 2

    /// Of `zones`.
    static let clientTokenColumn: Int32 = 5

    init(_ connection: OpaquePointer) throws {
        func statement(_ sql: String) throws -> HotStatement { try HotStatement(sql, on: connection) }
        let record = "SELECT \(RecordColumns.names), name FROM record"
        let zoneRecords = "\(record) INDEXED BY record_creation WHERE database = ?1 AND zone = ?2"
        self.ascending = try statement("\(zoneRecords) AND number > ?3 ORDER BY number")
        self.descending = try statement("\(zoneRecords) AND number < ?3 ORDER BY number DESC")
        self.fromNumber = try statement(
            "SELECT \(RecordColumns.names), name, database, zone FROM record WHERE number >= ? ORDER BY number"
        )
        self.byNumber = try statement("\(record) WHERE number = ?3 AND database = ?1 AND zone = ?2")
        self.byName = try statement("\(record) WHERE database = ?1 AND zone = ?2 AND name = ?3")
        self.positions = try statement(
            """
            SELECT number, position, created_position FROM record
            WHERE database = ?1 AND zone = ?2 AND name = ?3
            """
        )
        self.changes = try statement(
            """
            SELECT entries FROM change WHERE database = ? AND zone = ? AND position > ?
            ORDER BY position
            """
        )
        self.deletions = try statement(
            """
            SELECT position, name, type, creator, share FROM tombstone
            WHERE database = ? AND zone = ? AND position > ? ORDER BY position LIMIT ?
            """
        )
        self.zones = try statement(
            """
            SELECT name, number, position, record_count, byte_count, client_token
            FROM zone WHERE database = ?1 AND position > ?2 ORDER BY position LIMIT ?3
            """
        )
        self.zoneDeletions = try statement(
            """
            SELECT max(position) AS last, name FROM zone_tombstone WHERE database = ? AND position > ?
            GROUP BY name ORDER BY last LIMIT ?
            """
        )
    }
}
