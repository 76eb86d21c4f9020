import RecordStore

/// A piece of a list of entries, with the record of each.
///
/// A query reads these records next, so one statement has both. Records that are larger than their share of
/// a bound are left out.
struct ListedRecords {
    /// Entries that a statement lists, and how.
    struct Entries {
        /// Of the table of entries, such as `value, record`.
        let columns: String
        let conditions: String
        let order: String
        let limit: String
    }

    /// Bodies of the records of a list take so much together.
    private static let bytesMax = 4 * 1_024 * 1_024

    /// The share of each of so many records.
    static func share(of count: Int) -> Int64 { Int64(Self.bytesMax / max(1, count)) }

    /// The statement for a list, with or without its records; `bytesMax` names the parameter of the share.
    static func sql(_ entries: Entries, bytesMax: String?) -> SQL {
        let ends = "WHERE \(entries.conditions) ORDER BY \(entries.order) LIMIT \(entries.limit)"
        guard let bytesMax else { return SQL("SELECT \(entries.columns) FROM tidemark.index_entry \(ends)") }
        return SQL(
            """
            SELECT \(RecordColumns.all(upTo: bytesMax)), \(entries.columns) FROM (
                SELECT database, zone, \(entries.columns) FROM tidemark.index_entry \(ends)
            ) AS e
            LEFT JOIN tidemark.record AS r
                ON r.database = e.database AND r.zone = e.zone AND r.number = e.record
            ORDER BY \(entries.order)
            """
        )
    }
}
