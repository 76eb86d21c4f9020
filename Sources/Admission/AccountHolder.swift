/// The user or network with the account that a resource is charged to.
package enum AccountHolder: Hashable, Sendable {
    /// A user of a container's environment, by its number, on any connection.
    case user(environment: Int64, String)
    /// All requests from one network that are not signed in: an IPv4 address, or the first 64 bits
    /// of an IPv6 address.
    case address(String)
}

/// A request that asks whether it may wait.
package struct Newcomer: Hashable, Sendable {
    /// The account that pays for the request.
    package var holder: AccountHolder
    /// A hash that stays the same when the client repeats the request, under any ID; 0 if none was made.
    package var mark: UInt64

    package init(_ holder: AccountHolder, mark: UInt64 = 0) {
        self.holder = holder
        self.mark = mark
    }
}
