import RecordModel
import RecordStore
import WireProtocol

extension RequestAdmission {
    /// `fetch_records`.
    func admit(_ operation: FetchRecords) throws(Failure) -> AdmittedRequest {
        try self.checkCount(operation.ids.count)
        let requester = try self.user.requester(for: operation.scope, writing: false)
        return .fetchRecords(operation, requester)
    }
}
