/// Whose account a resource is taken from.
package enum AccountHolder: Hashable, Sendable {
    /// A user of a container's environment, on whichever connections.
    case user(EnvironmentID, String)
    /// Everybody from one network who is not signed in: an IPv4 address, or 64 bits of an IPv6 address.
    case address(String)
}

extension Requester {
    /// Who pays for the request.
    package var holder: AccountHolder {
        self.userRecordName.map { .user(self.environment, $0) } ?? .address(self.network)
    }
}
