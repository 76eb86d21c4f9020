import RecordModel
import RecordStore
import WireProtocol

extension RequestAdmission {
    /// `fetch_subscriptions`: requires a signed-in user, in the public database too.
    func admit(_ operation: FetchSubscriptions) throws(Failure) -> AdmittedRequest {
        if case .ids(let ids) = operation.selection { try self.checkCount(ids.count) }
        let requester = try self.user.requester(for: operation.scope, writing: true)
        return .fetchSubscriptions(operation.selection, requester)
    }
}
