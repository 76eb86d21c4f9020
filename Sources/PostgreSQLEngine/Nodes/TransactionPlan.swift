import RecordStore

/// The rows that a transaction locks before it reads, and so may change.
struct TransactionPlan {
    enum Reach: Hashable {
        /// Contents of some databases; every other row stays as it is while the transaction lasts.
        ///
        /// The server's own row is locked, and then the rows of the databases.
        case databases
        /// Anything: the row of the store is locked, and then the rows of all servers.
        case store
    }

    /// The locks that a transaction turned out to need, after which it begins anew.
    enum Need: Hashable {
        case database(DatabaseID)
        case store
        /// Somebody has removed the server's row.
        case registration
    }

    /// Beyond so many beginnings the whole store is locked.
    private static let beginningsMax = 4

    /// The server; `nil` for a command, which always locks the whole store.
    var node: NodeRegistration?
    var reach: Reach
    var databases: Set<DatabaseID>
    /// Rows that the jobs will ask for, to be read once the rows above are locked.
    var prefetches: [Prefetch] = []
    /// Whether times are those of PostgreSQL's clock, which all servers of a store share.
    var usesDatabaseClock = false
    private var beginnings = 1

    init(node: NodeRegistration?, reach: Reach = .store, databases: Set<DatabaseID> = []) {
        self.node = node
        // Jobs without a database are the store's own.
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

/// Numbers of records that a server has reserved: it gives them out without asking anybody.
struct RecordNumbers {
    /// So many are reserved at once.
    static let reservedCount: Int64 = 10_000

    private var next: Int64 = 1
    private var last: Int64 = 0

    /// `nil` if none is left.
    mutating func take() -> Int64? {
        guard self.next <= self.last else { return nil }
        defer { self.next += 1 }
        return self.next
    }

    /// Reserves more, which counts once the row is committed.
    ///
    /// - Throws: `unexpected` if the row is damaged.
    mutating func reserve(in row: inout StoreRow) throws(StorageFailure) {
        self.next = try row.lastRecord.counted() + 1
        row.lastRecord += Self.reservedCount
        self.last = row.lastRecord
    }
}
