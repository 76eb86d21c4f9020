import RecordStore
import WireProtocol

extension Admission {
    /// This server has no shares yet.
    var refusalOfShares: Failure { Failure(StoreError.databaseNotAllowed) }
}
