import StorageContract

/// The statements of entries, and the counter of indexes.
struct IndexStatements {
    let add, remove, removeSome, removeAll, takeNumbers: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.add = try statement("INSERT OR IGNORE INTO index_entry (record, key) VALUES (?, ?)")
        self.remove = try statement("DELETE FROM index_entry WHERE record = ? AND key = ?")
        self.removeSome = try statement(
            """
            DELETE FROM index_entry WHERE (key, record) IN
            (SELECT key, record FROM index_entry WHERE key >= ?1 AND key < ?2 LIMIT ?3)
            RETURNING length(key)
            """
        )
        self.removeAll = try statement(
            "DELETE FROM index_entry WHERE key >= ? AND key < ? AND record = ? RETURNING key"
        )
        self.takeNumbers = try statement("UPDATE index_counter SET last = last + ? RETURNING last")
    }
}
