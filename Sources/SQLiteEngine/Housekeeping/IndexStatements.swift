import RecordStore

/// The statements of entries, and the counter of indexes.
struct IndexStatements {
    let add, remove, takeNumbers: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.add = try statement(
            "INSERT OR IGNORE INTO entry (database, zone, field, value, record) VALUES (?, ?, ?, ?, ?)"
        )
        self.remove = try statement(
            """
            DELETE FROM entry WHERE database = ? AND zone = ? AND field = ? AND value = ? AND record = ?
            """
        )
        self.takeNumbers = try statement("UPDATE index_counter SET last = last + ? RETURNING last")
    }
}
