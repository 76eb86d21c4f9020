import GRDBSQLite
import RecordModel
import RecordStore

/// Copies the entries of format 11 into the table of format 12, some in each transaction.
///
/// Until the last one is copied, every change is written to both tables, and the earlier one counts:
/// readers read it, and what a change adds or removes is counted there. An entry that a change has
/// written before its turn is there already, and one that was removed is not copied any more.
///
/// Belongs to a connection that writes.
final class EntryCopy {
    private let add, remove, position, batch, insert, setPosition: HotStatement
    private let connection: OpaquePointer

    /// Whether entries of a file have still to be copied.
    static func isUnderWay(_ connection: OpaquePointer) throws(StorageFailure) -> Bool {
        try HotStatement("SELECT 1 FROM entry_copy", on: connection).hasRow()
    }

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.connection = connection
        self.add = try statement(
            "INSERT OR IGNORE INTO entry (database, zone, field, record, value) VALUES (?, ?, ?, ?, ?)"
        )
        self.remove = try statement(
            """
            DELETE FROM entry WHERE database = ? AND zone = ? AND field = ? AND record = ? AND value = ?
            """
        )
        self.position = try statement("SELECT database, zone, field, value, record FROM entry_copy")
        self.batch = try statement(
            """
            SELECT database, zone, field, value, record FROM entry
            WHERE (database, zone, field, value, record) > (?1, ?2, ?3, ?4, ?5)
            ORDER BY database, zone, field, value, record LIMIT ?6
            """
        )
        self.insert = try statement("INSERT OR IGNORE INTO index_entry (record, key) VALUES (?, ?)")
        self.setPosition = try statement(
            "UPDATE entry_copy SET database = ?, zone = ?, field = ?, record = ?, value = ?"
        )
    }

    /// Writes a change to the earlier table; returns whether that changed anything.
    func write(_ change: EntryQueue.Change) throws(StorageFailure) -> Bool {
        let statement = change.isAdded ? self.add : self.remove
        Self.bind(statement, change.zone, change.entry.index, change.record)
        try statement.run(bytes: change.entry.value, at: 5)
        return statement.changesCount > 0
    }

    /// Removes entries of a zone, or of one of its indexes, from the earlier table.
    ///
    /// - Returns: The number of bytes of each entry's value.
    func remove(ofIndex index: Int64?, in zone: ZoneKey, limit: Int) throws(StorageFailure) -> [Int] {
        let place = "database = ?1 AND zone = ?2" + (index == nil ? "" : " AND field = ?4")
        let statement = try HotStatement(
            """
            DELETE FROM entry WHERE \(place) AND (field, value, record) IN
            (SELECT field, value, record FROM entry WHERE \(place) LIMIT ?3) RETURNING length(value)
            """,
            on: self.connection
        )
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, Int64(limit))
        if let index { statement.bind(4, index) }
        var sizes: [Int] = []
        while try statement.step() { sizes.append(Int(statement.integer(0))) }
        return sizes
    }

    /// Copies a piece.
    ///
    /// - Returns: Whether that was the last one: then the earlier table is gone, and this copy with it.
    func step(limit: Int) throws(StorageFailure) -> Bool {
        guard try self.position.step() else { return true }
        for column in 0..<3 as Range<Int32> { self.batch.bind(column + 1, self.position.integer(column)) }
        self.batch.bind(4, self.position.bytes(3))
        self.batch.bind(5, self.position.integer(4))
        self.batch.bind(6, Int64(limit))
        self.position.reset()
        var count = 0
        var last: (zone: ZoneKey, index: Int64, value: [UInt8], record: Int64)?
        while try self.batch.step() {
            count += 1
            let database = DatabaseID(rawValue: self.batch.integer(0))
            let zone = ZoneKey(database: database, number: self.batch.integer(1))
            let entry = (zone, self.batch.integer(2), self.batch.bytes(3), self.batch.integer(4))
            last = entry
            self.insert.bind(1, entry.3)
            try self.insert.run(bytes: EntryKey(entry.1, in: zone)[entry.2], at: 2)
        }
        guard count == limit, let last else { return try self.finish() }
        Self.bind(self.setPosition, last.zone, last.index, last.record)
        try self.setPosition.run(bytes: last.value, at: 5)
        return false
    }

    private func finish() throws(StorageFailure) -> Bool {
        try HotStatement("DELETE FROM entry_copy", on: self.connection).run()
        try HotStatement("DROP TABLE entry", on: self.connection).run()
        return true
    }

    private static func bind(_ statement: HotStatement, _ zone: ZoneKey, _ index: Int64, _ record: Int64) {
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, index)
        statement.bind(4, record)
    }
}

extension HotStatement {
    /// Whether there is a row; the statement is ready to be run again.
    func hasRow() throws(StorageFailure) -> Bool {
        guard try self.step() else { return false }
        self.reset()
        return true
    }
}
