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
            let rule = try self.grants.access(toType: read.query.recordType, for: requester).readRule
            let execution = QueryExecution(
                read,
                for: requester,
                rule: rule,
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
