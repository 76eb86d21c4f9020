import RecordModel
import RecordStore

extension ReadConnection {
    /// One page of a query, all of it from one snapshot.
    ///
    /// `nil`: it needs more reads than the budget permits for an attempt.
    func query(
        _ read: QueryRead,
        for requester: Requester,
        budget: QueryBudget
    ) throws(StorageFailure) -> Result<QueryAnswer, StoreError>? {
        try self.snapshot { () throws(StorageFailure) in
            // Read in the snapshot: a role that is taken away counts from the next page on.
            let access = try self.grants.access(toType: read.query.recordType, for: requester)
            let execution = QueryExecution(
                read,
                for: requester,
                rule: access.readRule,
                budget: budget,
                reader: QueryConnection(self)
            )
            do throws(QueryFailure) {
                return .success(try execution.answer())
            } catch {
                switch error {
                case .refused(let error): return .failure(error)
                case .storage(let failure): throw failure
                case .tooLong: return nil
                }
            }
        }
    }
}
