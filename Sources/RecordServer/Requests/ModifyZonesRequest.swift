import RecordModel
import RecordStore
import WireProtocol

extension RequestAdmission {
    /// `modify_zones`: only private databases have custom zones.
    func admit(_ operation: ModifyZones, requestID: RequestID?) throws(Failure) -> WriteRequest {
        try self.checkCount(operation.saves.count + operation.deletes.count)
        let requester = try self.user.requester(for: operation.scope, writing: true)
        guard operation.scope != .public else {
            throw Failure(
                code: .badDatabase,
                message: "zones can be created and deleted in private databases only",
                retry: .never
            )
        }
        return try self.write(.modifyZones(operation), for: requester, requestID: requestID)
    }
}
