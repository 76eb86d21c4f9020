/// The statements of queries on one connection, compiled once.
///
/// Those that scan entries have the same parameters: 1 database, 2 zone, 3 index, 4 the value to
/// start at, or with 5 the entry to start behind, 6 the value to end at, 7 limit, 8 how many to
/// pass over.
final class QueryStatements {
    /// With and without one of the bounds.
    struct Bounded {
        let bounded, open: HotStatement
    }

    let records: HotStatement
    let ascending, ascendingBehind, descending, count, countBehind, countAll: Bounded

    init(_ connection: OpaquePointer) throws {
        func statement(_ sql: String) throws -> HotStatement { try HotStatement(sql, on: connection) }
        let within = "FROM entry WHERE database = ?1 AND zone = ?2 AND field = ?3"
        self.records = try statement(
            "SELECT record \(within) AND value = ?4 AND record >= ?5 ORDER BY record LIMIT ?7"
        )
        // SQLite compares pairs for every entry that it reads, a value only to find the first.
        let from = "\(within) AND value >= ?4"
        let behind = "\(within) AND (value, record) > (?4, ?5)"
        func ascending(_ start: String) throws -> Bounded {
            let inOrder = "ORDER BY value, record LIMIT ?7 OFFSET ?8"
            return Bounded(
                bounded: try statement("SELECT value, record \(start) AND value < ?6 \(inOrder)"),
                open: try statement("SELECT value, record \(start) \(inOrder)")
            )
        }
        self.ascending = try ascending(from)
        self.ascendingBehind = try ascending(behind)
        let descending = "\(within) AND value >= ?6"
        let backwards = "ORDER BY value DESC, record DESC LIMIT ?7 OFFSET ?8"
        self.descending = Bounded(
            bounded: try statement(
                "SELECT value, record \(descending) AND (value, record) < (?4, ?5) \(backwards)"
            ),
            open: try statement("SELECT value, record \(descending) \(backwards)")
        )
        func count(_ start: String) throws -> Bounded {
            Bounded(
                bounded: try statement(
                    "SELECT count(*) FROM (SELECT 1 \(start) AND value < ?6 LIMIT ?7)"
                ),
                open: try statement("SELECT count(*) FROM (SELECT 1 \(start) LIMIT ?7)")
            )
        }
        self.countAll = Bounded(
            bounded: try statement("SELECT count(*) \(from) AND value < ?6"),
            open: try statement("SELECT count(*) \(from)")
        )
        self.count = try count(from)
        self.countBehind = try count(behind)
    }
}
