import RecordModel

/// Outcomes of requests, in the rows of `RequestRow`.
extension TableReader {
    /// Reads what an earlier execution of a request left, as `StoredOutcome` encoded it; `nil` if
    /// the request left nothing.
    func outcome(of request: RequestID, in database: DatabaseID) throws(StorageFailure) -> [UInt8]? {
        try self.row(RequestRow.byKey, database, request.bytes)?.outcome
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
        self.memory.outcomesStored += 1
        self.count(rowBytes: RowBytes.outcome(outcome.count), in: database)
    }
}
