import RecordStore

/// A piece of a list of entries, with the record of each.
///
/// A query reads these records next, so one statement has both. From the record on with which the bodies
/// take more than a bound, the piece has entries alone.
struct ListedRecords {
    /// Entries that a statement lists, and how.
    struct Entries {
        /// Of the table of entries, such as `value, record`.
        let columns: String
        let conditions: String
        let order: String
        let limit: String
    }

    /// The statement for a list, with or without its records; `bytesMax` names the parameter of the bound.
    static func sql(_ entries: Entries, bytesMax: String?) -> SQL {
        let ends = "WHERE \(entries.conditions) ORDER BY \(entries.order) LIMIT \(entries.limit)"
        guard let bytesMax else { return SQL("SELECT \(entries.columns) FROM tidemark.index_entry \(ends)") }
        return SQL(
            """
            SELECT \(RecordColumns.fitting), \(entries.columns) FROM (
                SELECT s.*, \(entries.columns), coalesce(
                    sum(octet_length(s.body)) OVER (
                        ORDER BY \(entries.order) ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
                    0) <= \(bytesMax) AS fits
                FROM (
                    SELECT database, zone, \(entries.columns) FROM tidemark.index_entry \(ends)
                ) AS e
                LEFT JOIN tidemark.record AS s
                    ON s.database = e.database AND s.zone = e.zone AND s.number = e.record
            ) AS r ORDER BY \(entries.order)
            """
        )
    }
}
