package import RecordModel
package import RecordStore

/// A container of an open store, and what an operator does with all of it.
package struct AdministeredContainer: Sendable {
    package let identifier: String
    let store: Store

    package init(_ identifier: String, in store: Store) {
        self.identifier = identifier
        self.store = store
    }

    /// The identifiers of all containers of a store.
    package static func identifiers(in store: Store) throws(AdministrationError) -> [String] {
        try store.directory("") { (directory) throws(DirectoryError) in try directory.containers() }
    }

    private func directory<Value>(
        _ call: (Directory) throws(DirectoryError) -> Value
    ) throws(AdministrationError) -> Value {
        try self.store.directory(self.identifier, call)
    }

    /// Makes the container.
    package func create() throws(AdministrationError) {
        try self.directory { (directory) throws(DirectoryError) in
            try directory.createContainer(self.identifier)
        }
    }

    package func users() throws(AdministrationError) -> [DirectoryUser] {
        try self.directory { (directory) throws(DirectoryError) in
            try directory.users(ofContainer: self.identifier)
        }
    }

    package func serviceKeys() throws(AdministrationError) -> [DirectoryServiceKey] {
        try self.directory { (directory) throws(DirectoryError) in
            try directory.serviceKeys(ofContainer: self.identifier)
        }
    }

    package func usage() throws(AdministrationError) -> ContainerUsage {
        try self.directory { (directory) throws(DirectoryError) in
            try directory.usage(ofContainer: self.identifier)
        }
    }

    // MARK: History

    /// The number of days of history that are kept; 0 for none.
    package func historyDays() throws(AdministrationError) -> Int {
        try self.directory { (directory) throws(DirectoryError) in
            try directory.historyDays(ofContainer: self.identifier)
        }
    }

    package func setHistoryDays(_ days: Int) throws(AdministrationError) {
        try self.directory { (directory) throws(DirectoryError) in
            try directory.setHistoryDays(days, ofContainer: self.identifier)
        }
    }

    // MARK: Signing in

    /// Signs in for an operation; without a user, as an operator who is none.
    ///
    /// With `createsDatabases` a user who has not signed in yet gets databases.
    package func signIn(
        as user: String?,
        _ environment: Environment,
        createsDatabases: Bool = false
    ) throws(AdministrationError) -> SignIn {
        try self.store.directory(self.identifier, user: user) { (directory) throws(DirectoryError) in
            guard let user, createsDatabases else {
                return try directory.account(
                    named: user,
                    ofContainer: self.identifier,
                    environment: environment
                )
            }
            return try directory.accountWithDatabases(
                named: user,
                ofContainer: self.identifier,
                environment: environment
            )
        }
    }
}
