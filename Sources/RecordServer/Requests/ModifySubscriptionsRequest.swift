import RecordModel
import RecordStore
import WireProtocol

extension RequestAdmission {
    /// `modify_subscriptions`: the store checks the subscriptions, in the transaction.
    func admit(_ operation: ModifySubscriptions, requestID: RequestID?) throws(Failure) -> WriteRequest {
        try self.checkCount(operation.saves.count + operation.deletes.count)
        let requester = try self.user.requester(for: operation.scope, writing: true)
        return try self.write(.modifySubscriptions(operation), for: requester, requestID: requestID)
    }
}
