import RecordModel
import RecordStore
import StorageContract
import WireProtocol

extension RequestAdmission {
    /// Admits `explain_record`: requires a user, since the response describes the user's
    /// installations.
    func admit(_ operation: ExplainRecord) throws(Failure) -> AdmittedRequest {
        guard self.user.signIn.userRecordName != nil else { throw Failure(StoreError.notSignedIn) }
        let requester = try self.user.requester(for: operation.scope, writing: false)
        return .explain(operation.id, requester)
    }
}
