package import RecordModel
package import RecordStore
package import StorageContract

/// The treatment of a private database that the user of an operation does not have yet.
package enum AbsentDatabase: Sendable {
    case isRefused
    case isMade
    /// As if it had been made: for the dry run of an operation that makes it.
    case isAssumed
}

extension DatabaseID {
    /// No database has the number 0.
    package static let assumed = DatabaseID(rawValue: 0)
}

/// A database of a container, and the user or service that gives an operation its rights there.
package struct DatabaseSelection: Hashable, Sendable {
    package var container: String
    package var scope: DatabaseScope
    /// `nil` for an operator, who reads all of the public database.
    package var user: String?
    package var environment: Environment

    package init(container: String, scope: DatabaseScope, user: String?, environment: Environment) {
        self.container = container
        self.scope = scope
        self.user = user
        self.environment = environment
    }

    /// Finds the database in a store.
    package func requester(
        in store: Store,
        absent: AbsentDatabase = .isRefused
    ) throws(AdministrationError) -> Requester {
        if self.user == nil, self.scope != .public { throw .userRequired(self.scope) }
        let container = AdministeredContainer(self.container, in: store)
        let signIn = try container.signIn(
            as: self.user,
            self.environment,
            createsDatabases: absent == .isMade
        )
        var database: DatabaseID?
        switch self.scope {
        case .public: database = signIn.publicDatabase
        case .private:
            database = signIn.privateDatabase
            if database == nil, absent == .isAssumed { database = try self.assumed(in: container) }
        case .shared: database = signIn.sharedDatabase
        }
        guard let database else {
            throw .databaseMissing(self.scope, user: self.user ?? "", self.environment)
        }
        var requester = Requester(
            database: database,
            scope: self.scope,
            environment: signIn.environment,
            userRecordName: signIn.userRecordName
        )
        requester.isOperator = self.user == nil
        return requester
    }

    /// The ID of the private database that a save would make; `nil` if it would make none.
    private func assumed(
        in container: AdministeredContainer
    ) throws(AdministrationError) -> DatabaseID? {
        let users = try container.users()
        return users.contains { $0.name == self.user && !$0.isService } ? .assumed : nil
    }
}
