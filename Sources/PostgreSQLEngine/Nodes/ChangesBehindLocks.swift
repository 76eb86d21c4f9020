import RecordModel
import StorageContract

/// Other servers' changes in watched databases that a transaction finds after locking them.
struct ChangesBehindLocks {
    private var unread: [ChangesOfOthers.Stretch] = []
    /// In the order in which the databases were locked.
    private(set) var all: [ChangesOfOthers] = []

    /// Notes that a database has advanced beyond the reported position.
    mutating func note(_ database: DatabaseID, _ environment: EnvironmentID, after position: Int64) {
        self.unread.append(
            ChangesOfOthers.Stretch(database: database, environment: environment, after: position)
        )
    }

    /// Reads the noted changes, before the transaction changes the databases again.
    mutating func read(in transaction: PostgreSQLTransaction) throws(StorageFailure) {
        guard !self.unread.isEmpty else { return }
        self.all += try ChangesOfOthers.read(self.unread, on: transaction.connection) {
            (type, environment) throws(StorageFailure) in
            try transaction.fields(ofType: type, in: environment)
        }
        self.unread = []
    }
}
