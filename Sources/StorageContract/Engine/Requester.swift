package import RecordModel

/// The user or service that asks, and the database that is asked.
package struct Requester: Hashable, Sendable {
    package var database: DatabaseID
    package var scope: DatabaseScope
    package var environment: EnvironmentID
    /// The user; `nil` if the requester is not signed in.
    package var userRecordName: String?
    /// A hash that stays the same when the client repeats the request, under any ID; 0 if none was made.
    package var mark: UInt64
    /// The network of a client that is not signed in: the request is charged to its account.
    package var network: String
    /// Milliseconds since 1970 after which a read that waits is refused instead of executed.
    package var deadlineMilliseconds: Int64
    /// The installation of the user that asks for a change; `nil` if it did not say.
    package var installation: InstallationID?
    /// Whether an operator asks, who reads every record of the public database, and writes none.
    ///
    /// Only a command on the store's files sets it.
    package var isOperator = false

    package init(
        database: DatabaseID,
        scope: DatabaseScope,
        environment: EnvironmentID,
        userRecordName: String?,
        mark: UInt64 = 0,
        network: String = "",
        deadlineMilliseconds: Int64 = .max
    ) {
        self.database = database
        self.scope = scope
        self.environment = environment
        self.userRecordName = userRecordName
        self.mark = mark
        self.network = network
        self.deadlineMilliseconds = deadlineMilliseconds
    }
}

extension Requester {
    /// The database with the commits that a result may show; `nil` if it may show those of several.
    package var databaseShown: DatabaseID? { self.scope == .shared ? nil : self.database }
}
