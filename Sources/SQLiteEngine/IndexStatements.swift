import RecordStore

/// The statements of entries, and of changes to indexes.
struct IndexStatements {
    let add, remove, takeNumber: HotStatement
    let setField, deleteField: HotStatement
    let insertBuild, deleteBuild, insertRemoval: HotStatement

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
        self.takeNumber = try statement("UPDATE index_counter SET last = last + 1 RETURNING last")
        self.setField = try statement(
            """
            INSERT INTO field (record_type, name, type, is_encrypted, declared, indexes, index_number)
            VALUES (?, ?, ?, ?, 0, ?, ?) ON CONFLICT (record_type, name)
            DO UPDATE SET indexes = excluded.indexes, index_number = excluded.index_number
            """
        )
        self.deleteField = try statement("DELETE FROM field WHERE record_type = ? AND name = ?")
        self.insertBuild = try statement("INSERT INTO index_build (index_number, next_record) VALUES (?, 0)")
        self.deleteBuild = try statement("DELETE FROM index_build WHERE index_number = ?")
        self.insertRemoval = try statement(
            "INSERT INTO index_removal (index_number, database, zone_name) VALUES (?, 0, '')"
        )
    }
}
