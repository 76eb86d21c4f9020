import RecordModel
import StorageContract

/// Outcomes of requests, in the rows of `RequestRow`.
extension TableReader {
    /// Reads the outcome of an earlier execution of a request, as `StoredOutcome` encoded it; `nil`
    /// if there is none.
    func outcome(of request: RequestID, in database: DatabaseID) throws(StorageFailure) -> [UInt8]? {
        try self.row(RequestRow.byKey, database, request.bytes)?.outcome
    }
}

extension WriteTransaction {
    /// Stores the outcome of a request, for later executions of the same request.
    func store(
        outcome: [UInt8],
        of request: RequestID,
        in database: DatabaseID
    ) throws(StorageFailure) {
        try self.put(RequestRow(database: database, id: request, outcome: outcome))
        self.knowledge.outcomesStored += 1
        self.count(rowBytes: RowBytes.outcome(outcome.count), in: database)
    }
}
