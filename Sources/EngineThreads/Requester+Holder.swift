package import Admission
package import StorageContract

extension Requester {
    /// The account that pays for the request.
    package var holder: AccountHolder {
        self.userRecordName.map { .user(environment: self.environment.rawValue, $0) }
            ?? .address(self.network)
    }

    /// The requester as the rules of waiting see it.
    var newcomer: Newcomer { Newcomer(self.holder, mark: self.mark) }
}
