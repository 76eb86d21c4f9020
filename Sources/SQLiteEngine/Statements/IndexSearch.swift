import RecordStore

/// Looks for entries of indexes, on whatever connection.
struct IndexSearch {
    private let statement: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        self.statement = try HotStatement(
            """
            SELECT 1 FROM database
            JOIN zone ON zone.database = database.number
            JOIN entry ON entry.database = zone.database AND entry.zone = zone.number AND entry.field = ?1
            WHERE database.environment = ?2 LIMIT 1
            """,
            on: connection
        )
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        self.statement.bind(1, index)
        self.statement.bind(2, environment.rawValue)
        guard try self.statement.step() else { return false }
        self.statement.reset()
        return true
    }
}
