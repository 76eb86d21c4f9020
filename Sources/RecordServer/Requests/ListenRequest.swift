import RecordModel
import RecordStore
import StorageContract
import WireProtocol

extension RequestAdmission {
    /// Admits `listen`: requires a user with a record name, and an installation.
    func admitListen() throws(Failure) -> AdmittedRequest {
        guard self.user.signIn.userRecordName != nil else { throw Failure(StoreError.notSignedIn) }
        guard let identity = self.user.listenerIdentity else {
            throw Failure(
                code: .invalidArguments,
                message: "the hello had no installation_id",
                retry: .never
            )
        }
        return .listen(identity)
    }
}
