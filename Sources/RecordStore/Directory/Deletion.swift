package import StorageContract

/// A user, or other data, that an operator deletes for good.
package enum Deletion: Hashable, Sendable {
    /// A user or a service.
    ///
    /// Their private and shared databases, credentials, contacts, roles and share memberships go
    /// along. Records that they saved in public databases stay; the record of the user there goes.
    case user(name: String, container: String)
    /// Both environments, with all databases, users and schemas.
    case container(String)

    package var container: String {
        switch self {
        case .user(_, let container), .container(let container): container
        }
    }
}

/// The amounts that a deletion removes.
package struct DeletionExtent: Hashable, Sendable {
    package var users: Int
    package var stored: StoredAmount
    /// Shares in databases that go: their participants lose them.
    package var shares: Int
    /// Shares of other users that a deleted user has joined.
    package var memberships: Int

    package init(users: Int, stored: StoredAmount, shares: Int, memberships: Int) {
        self.users = users
        self.stored = stored
        self.shares = shares
        self.memberships = memberships
    }
}

package enum DeletionProgress: Hashable, Sendable {
    /// Something was deleted, and there may be more.
    case more
    /// The rest is being swept, here or in the server: ask again soon.
    case sweeping
    case done
}
