/// The statements of queries on one connection, compiled once.
///
/// Those that scan entries have the same parameters: 1 database, 2 zone, 3 index, 4 and 5 the entry to start behind, 6 the value to
/// end at, 7 limit, 8 how many to pass over.
final class QueryStatements {
    /// With and without one of the bounds.
    struct Bounded {
        let bounded, open: HotStatement
    }

    let typeNumber, fields, zones, records, record: HotStatement
    let ascending, descending, count: Bounded

    init(_ connection: OpaquePointer) throws {
        func statement(_ sql: String) throws -> HotStatement { try HotStatement(sql, on: connection) }
        self.typeNumber = try statement("SELECT number FROM record_type WHERE environment = ? AND name = ?")
        self.fields = try statement(
            """
            SELECT name, type, is_encrypted, indexes, field.index_number, index_build.index_number
            FROM field LEFT JOIN index_build ON index_build.index_number = field.index_number
            WHERE record_type = ?
            """
        )
        self.zones = try statement(
            "SELECT name, number FROM zone WHERE database = ? AND name >= ? ORDER BY name LIMIT ?"
        )
        self.record = try statement(RecordColumns.selectByNumber)
        let within = "FROM entry WHERE database = ?1 AND zone = ?2 AND field = ?3"
        self.records = try statement(
            "SELECT record \(within) AND value = ?4 AND record >= ?5 ORDER BY record LIMIT ?7"
        )
        let ascending = "\(within) AND (value, record) > (?4, ?5)"
        let inOrder = "ORDER BY value, record LIMIT ?7 OFFSET ?8"
        self.ascending = Bounded(
            bounded: try statement("SELECT value, record \(ascending) AND value < ?6 \(inOrder)"),
            open: try statement("SELECT value, record \(ascending) \(inOrder)")
        )
        let descending = "\(within) AND value >= ?6"
        let backwards = "ORDER BY value DESC, record DESC LIMIT ?7 OFFSET ?8"
        self.descending = Bounded(
            bounded: try statement(
                "SELECT value, record \(descending) AND (value, record) < (?4, ?5) \(backwards)"
            ),
            open: try statement("SELECT value, record \(descending) \(backwards)")
        )
        self.count = Bounded(
            bounded: try statement(
                "SELECT count(*) FROM (SELECT 1 \(ascending) AND value < ?6 LIMIT ?7)"
            ),
            open: try statement("SELECT count(*) FROM (SELECT 1 \(ascending) LIMIT ?7)")
        )
    }
}
