import RecordModel
import RecordStore

/// Changes of others in watched databases, which a transaction finds behind its locks.
struct ChangesBehindLocks {
    private var unread: [ChangesOfOthers.Stretch] = []
    /// In the order in which the databases were locked.
    private(set) var all: [ChangesOfOthers] = []

    /// Notes that a database is further than what was reported.
    mutating func note(_ database: DatabaseID, _ environment: EnvironmentID, after position: Int64) {
        self.unread.append(
            ChangesOfOthers.Stretch(database: database, environment: environment, after: position)
        )
    }

    /// Reads what was noted, before the transaction changes the databases again.
    mutating func read(in transaction: PostgreSQLTransaction) throws(StorageFailure) {
        guard !self.unread.isEmpty else { return }
        self.all += try ChangesOfOthers.read(self.unread, on: transaction.connection) {
            (type, environment) throws(StorageFailure) in
            try transaction.fields(ofType: type, in: environment)
        }
        self.unread = []
    }
}
