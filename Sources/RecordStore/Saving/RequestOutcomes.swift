import RecordModel

/// Outcomes of requests, in the rows of `RequestRow`.
extension TableReader {
    /// Reads what earlier executions of requests left, as `StoredOutcome` encoded it: one element
    /// an ID, in order, `nil` if the request left nothing.
    func outcomes(
        of requests: [RequestID],
        in database: DatabaseID
    ) throws(StorageFailure) -> [[UInt8]?] {
        let keys = requests.map { [database.columnValue, .bytes($0.bytes)] }
        var outcomes: [[UInt8]?] = []
        outcomes.reserveCapacity(keys.count)
        for values in try self.rows(of: RequestRow.table, by: RequestRow.table.key, keys: keys) {
            guard let values else {
                outcomes.append(nil)
                continue
            }
            outcomes.append(try RequestRow(values: values).outcome)
        }
        return outcomes
    }
}

extension WriteTransaction {
    /// Keeps what a request left, for executions of the same request that come later.
    func store(
        outcome: [UInt8],
        of request: RequestID,
        in database: DatabaseID
    ) throws(StorageFailure) {
        try self.put(RequestRow(database: database, id: request, outcome: outcome))
        self.count(rowBytes: RowBytes.outcome(outcome.count), in: database)
    }
}
