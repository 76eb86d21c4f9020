import StorageContract

/// The rows that a transaction locks before it reads, and so may change.
struct TransactionPlan {
    enum Reach: Hashable {
        /// Contents of some databases; no other row changes during the transaction.
        ///
        /// The server's own row is locked, then the rows of the databases.
        case databases
        /// Anything: the row of the store is locked, then the rows of all servers.
        case store
    }

    /// The locks that a transaction lacked; it restarts with them.
    enum Need: Hashable {
        case database(DatabaseID)
        case store
        /// The server's row was removed.
        case registration
    }

    /// Number of attempts after which the whole store is locked.
    private static let beginningsMax = 4

    /// The server; `nil` for a command, which always locks the whole store.
    var node: NodeRegistration?
    var reach: Reach
    var databases: Set<DatabaseID>
    /// Rows that the jobs will need, read after the rows above are locked.
    var prefetches: [Prefetch] = []
    /// Whether times are from PostgreSQL's clock, which all servers of a store share.
    var usesDatabaseClock = false
    private var beginnings = 1

    init(node: NodeRegistration?, reach: Reach = .store, databases: Set<DatabaseID> = []) {
        self.node = node
        // Jobs without a database concern the store itself.
        self.reach = node == nil || databases.isEmpty ? .store : reach
        self.databases = databases
    }

    mutating func meet(_ need: Need) {
        self.beginnings += 1
        switch need {
        case .store: self.reach = .store
        case .database(let database): self.databases.insert(database)
        case .registration: break
        }
        if self.beginnings > Self.beginningsMax { self.reach = .store }
    }
}

/// Record numbers that a server has reserved, to assign without a round trip.
struct RecordNumbers {
    /// Size of a reservation.
    static let reservedCount: Int64 = 10_000

    private var next: Int64 = 1
    private var last: Int64 = 0

    /// `nil` if none is left.
    mutating func take() -> Int64? {
        guard self.next <= self.last else { return nil }
        defer { self.next += 1 }
        return self.next
    }

    /// Reserves more, which takes effect once the row is committed.
    ///
    /// - Throws: `unexpected` if the row is damaged.
    mutating func reserve(in row: inout StoreRow) throws(StorageFailure) {
        self.next = try row.lastRecord.counted() + 1
        row.lastRecord += Self.reservedCount
        self.last = row.lastRecord
    }
}
