import RecordModel
import RecordStore
import WireProtocol

extension RequestAdmission {
    /// `accept_shares`: the result is in the shared database of the requesting user.
    func admit(_ operation: AcceptShares, requestID: RequestID?) throws(Failure) -> WriteRequest {
        try self.checkCount(operation.tokens.count)
        let requester = try self.user.requester(for: .shared, writing: true)
        return try self.write(.acceptShares(operation), for: requester, requestID: requestID)
    }

    /// `request_share_access`.
    func admit(_ operation: RequestShareAccess, requestID: RequestID?) throws(Failure) -> WriteRequest {
        try self.checkCount(operation.tokens.count)
        let requester = try self.user.requester(for: .shared, writing: true)
        return try self.write(.requestShareAccess(operation), for: requester, requestID: requestID)
    }

    /// `fetch_share_metadata`.
    func admit(_ operation: FetchShareMetadata) throws(Failure) -> AdmittedRequest {
        try self.checkCount(operation.tokens.count)
        return .fetchShareMetadata(operation, try self.user.requester(for: .shared, writing: false))
    }

    /// `fetch_share_participants`.
    func admit(_ operation: FetchShareParticipants) throws(Failure) -> AdmittedRequest {
        try self.checkCount(operation.lookups.count)
        return .fetchShareParticipants(operation, try self.user.requester(for: .shared, writing: false))
    }
}
