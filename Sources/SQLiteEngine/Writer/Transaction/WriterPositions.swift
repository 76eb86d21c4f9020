import GRDBSQLite
import StorageContract

/// The last position of each database, including those that the transaction has assigned.
final class WriterPositions {
    /// A class, so that the last one used is found without a search.
    private final class Counter {
        var position: Int64
        var isChanged = false

        init(position: Int64) { self.position = position }
    }

    private var counters: [DatabaseID: Counter] = [:]
    /// Databases in which the transaction has assigned positions.
    private(set) var changed: [DatabaseID] = []
    /// The last counter used: most requests name one database.
    private var lastCounter: (database: DatabaseID, counter: Counter)?
    /// Number of positions assigned in all databases since the process began.
    ///
    /// Every change takes one.
    private(set) var taken = 0
    private let find: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        self.find = try HotStatement("SELECT position FROM database WHERE number = ?", on: connection)
    }

    var count: Int { self.counters.count }

    func take(in database: DatabaseID) throws(StorageFailure) -> Int64 {
        let counter = try self.counter(of: database)
        counter.position += 1
        self.taken += 1
        if !counter.isChanged {
            counter.isChanged = true
            self.changed.append(database)
        }
        return counter.position
    }

    private func counter(of database: DatabaseID) throws(StorageFailure) -> Counter {
        if let last = self.lastCounter, last.database == database { return last.counter }
        let counter: Counter
        if let known = self.counters[database] {
            counter = known
        } else {
            counter = Counter(position: try self.last(of: database))
            self.counters[database] = counter
        }
        self.lastCounter = (database, counter)
        return counter
    }

    /// The last position assigned in a database.
    func last(of database: DatabaseID) throws(StorageFailure) -> Int64 {
        if let known = self.counters[database] { return known.position }
        self.find.bind(1, database.rawValue)
        guard try self.find.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { self.find.reset() }
        let position = try self.find.integer(0).counted()
        guard position >= 0 else { throw .unexpected(code: SQLITE_CORRUPT) }
        return position
    }

    /// The last position that was assigned in a database by this process.
    func place(in database: DatabaseID) -> SyncedEnd.Place? {
        self.counters[database].map { SyncedEnd.Place(database: database.rawValue, position: $0.position) }
    }

    func isChanged(_ database: DatabaseID) -> Bool { self.counters[database]?.isChanged == true }

    /// Notes that the row of a database in `changed` has its last position.
    func wasWritten(_ database: DatabaseID) { self.counters[database]?.isChanged = false }

    /// Returns the databases with newly assigned positions, after all were written.
    func takeChanged() -> [DatabaseID] {
        let changed = self.changed
        self.changed.removeAll(keepingCapacity: true)
        return changed
    }

    func forget() {
        self.counters.removeAll()
        self.changed.removeAll()
        self.lastCounter = nil
    }
}
