import RecordModel
import RecordStore
import WireProtocol

extension RequestAdmission {
    /// `modify_records`: the store checks the records, in the transaction.
    func admit(_ operation: ModifyRecords, requestID: RequestID?) throws(Failure) -> WriteRequest {
        try self.checkCount(operation.saves.count + operation.deletes.count)
        let requester = try self.user.requester(for: operation.scope, writing: true)
        return try self.write(.modifyRecords(operation), for: requester, requestID: requestID)
    }
}
