package import RecordModel
package import StorageContract

/// The amounts stored in the databases of a container.
package struct ContainerUsage: Hashable, Sendable {
    /// The public databases, then the private ones by user; development before production.
    package var databases: [DatabaseUsage]

    package init(databases: [DatabaseUsage]) { self.databases = databases }

    /// The sum of all databases, which a container's quota bounds.
    package var total: StoredAmount { self.databases.reduce(into: StoredAmount()) { $0.add($1.amount) } }

    /// The sum of a user's private databases, which a user's quota bounds.
    package func total(ofUser name: String) -> StoredAmount {
        self.databases.filter { $0.user == name }.reduce(into: StoredAmount()) { $0.add($1.amount) }
    }
}

package struct DatabaseUsage: Hashable, Sendable {
    package var environment: Environment
    /// The name of the user; `nil` if this is the public database.
    package var user: String?
    package var amount: StoredAmount

    package init(environment: Environment, user: String?, amount: StoredAmount) {
        self.environment = environment
        self.user = user
        self.amount = amount
    }
}
