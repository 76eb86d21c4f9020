/// The user or network with the account that a resource is charged to.
package enum AccountHolder: Hashable, Sendable {
    /// A user of a container's environment, on any connection.
    case user(EnvironmentID, String)
    /// All requests from one network that are not signed in: an IPv4 address, or the first 64 bits
    /// of an IPv6 address.
    case address(String)
}

extension Requester {
    /// The account that pays for the request.
    package var holder: AccountHolder {
        self.userRecordName.map { .user(self.environment, $0) } ?? .address(self.network)
    }
}
