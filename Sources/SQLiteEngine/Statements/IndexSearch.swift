import RecordModel
import RecordStore

/// Looks for entries of indexes, on whatever connection.
struct IndexSearch {
    private let connection: OpaquePointer
    private let zones, entry: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        self.connection = connection
        self.zones = try HotStatement(
            """
            SELECT zone.database, zone.number FROM database JOIN zone ON zone.database = database.number
            WHERE database.environment = ?
            """,
            on: connection
        )
        self.entry = try HotStatement("SELECT 1 FROM index_entry WHERE key >= ? AND key < ?", on: connection)
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        let earlier = try self.earlier(index)
        self.zones.bind(1, environment.rawValue)
        while try self.zones.step() {
            let database = DatabaseID(rawValue: self.zones.integer(0))
            let zone = ZoneKey(database: database, number: self.zones.integer(1))
            guard try self.hasEntry(index, in: zone, earlier) else { continue }
            self.zones.reset()
            return true
        }
        return false
    }

    private func hasEntry(
        _ index: Int64,
        in zone: ZoneKey,
        _ earlier: HotStatement?
    ) throws(StorageFailure) -> Bool {
        if let earlier {
            earlier.bind(1, zone.database.rawValue)
            earlier.bind(2, zone.number)
            return try earlier.hasRow()
        }
        let key = EntryKey(index, in: zone)
        self.entry.bind(1, key.prefix)
        self.entry.bind(2, key.end)
        return try self.entry.hasRow()
    }

    /// Looks in the table of format 11 as long as its entries are still to be copied.
    private func earlier(_ index: Int64) throws(StorageFailure) -> HotStatement? {
        guard try EntryCopy.isUnderWay(self.connection) else { return nil }
        let statement = try HotStatement(
            "SELECT 1 FROM entry WHERE database = ?1 AND zone = ?2 AND field = ?3",
            on: self.connection
        )
        statement.bind(3, index)
        return statement
    }
}
