import RecordModel
import StorageContract

/// Searches entries of indexes, on any connection.
struct IndexSearch {
    private let zones, entry: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
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
        self.zones.bind(1, environment.rawValue)
        while try self.zones.step() {
            let database = DatabaseID(rawValue: self.zones.integer(0))
            let zone = ZoneKey(database: database, number: self.zones.integer(1))
            guard try self.hasEntry(index, in: zone) else { continue }
            self.zones.reset()
            return true
        }
        return false
    }

    private func hasEntry(_ index: Int64, in zone: ZoneKey) throws(StorageFailure) -> Bool {
        let key = EntryKey(index, in: zone)
        self.entry.bind(1, key.prefix)
        self.entry.bind(2, key.end)
        return try self.entry.hasRow()
    }
}
