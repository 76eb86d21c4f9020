import RecordModel
import RecordStore
import WireProtocol

extension RequestAdmission {
    /// `fetch_zones`.
    func admit(_ operation: FetchZones) throws(Failure) -> AdmittedRequest {
        if case .ids(let ids) = operation.selection { try self.checkCount(ids.count) }
        let requester = try self.user.requester(for: operation.scope, writing: false)
        return .fetchZones(operation.selection, requester)
    }
}
