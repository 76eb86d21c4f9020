import RecordModel
import RecordStore

/// A transaction that writes, on the writer's connection.
///
/// The row of the store is locked first, so that transactions of all processes come one after the other,
/// and then the row of each database that is changed. Positions come from that row. Writes are sent and
/// not waited for; the next read waits for them, or the commit.
final class PostgreSQLTransaction {
    /// The state to which a job that failed is taken back.
    struct Savepoint {
        fileprivate let growth: Growth
        fileprivate let report: CommitReport
    }

    let connection: PostgreSQLConnection
    let tables: TableStatements
    let nowMilliseconds: Int64
    private(set) var positionsTaken = 0
    /// In the unit of the overload rule.
    var workDone = 0
    var report: CommitReport
    var growth = Growth()
    var knowledge: WriterKnowledge
    /// The last positions of databases whose rows are locked.
    private var lockedPositions: [DatabaseID: Int64] = [:]
    /// Whether a schema was changed.
    var changesSchema = false
    /// Whether anything was written that the counters do not show.
    var isChanged = false
    private(set) var lastRecord: Int64 = 0
    private var lastIndex: Int64 = 0
    private var storeRow = StoreRow()
    /// The positions of watched databases that somebody asked for or that were changed.
    private(set) var watchedPositions: [DatabaseID: Int64]

    init(
        _ connection: PostgreSQLConnection,
        tables: TableStatements,
        knowledge: WriterKnowledge,
        watched: [DatabaseID: EnvironmentID],
        watchedPositions: [DatabaseID: Int64],
        nowMilliseconds: Int64
    ) {
        self.connection = connection
        self.tables = tables
        self.knowledge = knowledge
        self.report = CommitReport(watched: watched)
        self.watchedPositions = watchedPositions
        self.nowMilliseconds = nowMilliseconds
    }

    var memory: RuleMemory { self.knowledge.memory }

    var origin: ChangeOrigin? {
        get { self.report.origin }
        set { self.report.origin = newValue }
    }

    // MARK: Beginning and end

    /// Begins the transaction, and locks the rows of some databases.
    ///
    /// Forgets what was known if somebody else has written.
    ///
    /// - Returns: The row of the store.
    func begin(databases: Set<DatabaseID>) throws(StorageFailure) -> StoreRow {
        let numbers = databases.map { Optional($0.rawValue) }
        try self.connection.write(TransactionSQL.begin)
        try self.connection.write(StoreRow.lock) { self.storeRow = StoreRow($0) }
        try self.connection.write(CounterSQL.lockDatabases, [.integers(numbers)]) { self.noteLocked($0) }
        try self.connection.drain()
        self.lastRecord = self.storeRow.lastRecord
        self.lastIndex = self.storeRow.lastIndex
        if self.knowledge.generation != self.storeRow.generation {
            self.knowledge = WriterKnowledge(generation: self.storeRow.generation)
            try self.noteChangesOfOthers()
        }
        return self.storeRow
    }

    private func noteLocked(_ rows: ResultRows) {
        for row in 0..<rows.count {
            self.lockedPositions[DatabaseID(rawValue: rows.integer(row, 0))] = rows.integer(row, 1)
        }
    }

    /// Notes that somebody else has changed watched databases since their positions were known.
    private func noteChangesOfOthers() throws(StorageFailure) {
        let known = self.watchedPositions.filter { self.isWatched($0.key) }
        guard !known.isEmpty else { return }
        let numbers = SQLValue.integers(known.keys.map { Optional($0.rawValue) })
        let rows = try self.connection.rows(CounterSQL.positions, [numbers])
        for row in 0..<rows.count {
            let database = DatabaseID(rawValue: rows.integer(row, 0))
            let position = rows.integer(row, 1)
            guard let before = known[database], position > before else { continue }
            self.report.noteMore(in: database, upTo: position)
            self.watchedPositions[database] = position
        }
    }

    /// Whether there is anything to commit.
    var hasChanges: Bool {
        self.isChanged || !self.growth.isEmpty || self.lastRecord != self.storeRow.lastRecord
            || self.lastIndex != self.storeRow.lastIndex
    }

    /// Writes the counters and commits, all in one flight.
    ///
    /// - Returns: Whether there was anything to commit.
    /// - Throws: `conflict` if nothing was committed, `outcomeUnknown` if that is not known.
    func commit(lease: StoreLease?) throws(StorageFailure) -> Bool {
        // Rows that deletes and insertions found count as well, and a failure has to come before the commit.
        try self.connection.drain()
        let isChanged = self.hasChanges
        var row = self.storeRow
        if isChanged {
            try self.growth.write(on: self.connection)
            self.noteWritten(self.growth.changedDatabases)
            row.generation += 1
            row.lastRecord = self.lastRecord
            row.lastIndex = self.lastIndex
            if self.changesSchema { row.schemaVersion += 1 }
            lease?.renew(&row)
            try self.connection.write(StoreRow.write, row.parameters)
        }
        var command = ""
        do throws(PostgreSQLError) {
            try self.connection.send(TransactionSQL.commit) { command = $0.command }
            try self.connection.receive()
        } catch {
            if case .lost = error.kind { throw .outcomeUnknown }
            throw StorageFailure(error)
        }
        // A transaction that had failed ends with a rollback, which is no error.
        guard command == "COMMIT" else { throw .conflict }
        self.knowledge.generation = row.generation
        return isChanged
    }

    // MARK: A part of the transaction

    func setSavepoint() throws(StorageFailure) -> Savepoint {
        try self.connection.drain()
        try self.connection.write(TransactionSQL.savepoint)
        return Savepoint(growth: self.growth, report: self.report)
    }

    func release() throws(StorageFailure) {
        try self.connection.drain()
        try self.connection.write(TransactionSQL.release)
    }

    func takeBack(to savepoint: Savepoint) throws(StorageFailure) {
        // A failure may have left statements that wait, which fail as well.
        do throws(StorageFailure) { try self.connection.drain() } catch {}
        try self.connection.write(TransactionSQL.rollbackToSavepoint)
        try self.connection.write(TransactionSQL.release)
        try self.connection.drain()
        self.growth = savepoint.growth
        self.report = savepoint.report
        self.knowledge = WriterKnowledge(generation: self.knowledge.generation)
    }

    // MARK: Positions and reports

    func takePosition(in database: DatabaseID) throws(StorageFailure) -> Int64 {
        let position = try self.lastPosition(of: database) + 1
        self.growth.positions[database] = position
        self.positionsTaken += 1
        return position
    }

    func position(of database: DatabaseID) throws(StorageFailure) -> Int64 {
        let position = try self.lastPosition(of: database)
        if self.isWatched(database) { self.watchedPositions[database] = position }
        return position
    }

    private func lastPosition(of database: DatabaseID) throws(StorageFailure) -> Int64 {
        if let taken = self.growth.positions[database] { return taken }
        if let locked = self.lockedPositions[database] { return locked }
        let number = SQLValue.integers([database.rawValue])
        self.noteLocked(try self.connection.rows(CounterSQL.lockDatabases, [number]))
        guard let locked = self.lockedPositions[database] else { throw .unexpected(code: 3) }
        return locked
    }

    /// Reads positions anew, as somebody has written the rows; they stay locked.
    func forgetLockedPositions() { self.lockedPositions = [:] }

    func lastChange(
        inZonesOf database: DatabaseID,
        exceptNamed name: String
    ) throws(StorageFailure) -> Int64 {
        try self.connection.rows(CounterSQL.lastChange, [.integer(database.rawValue), .text(name)]).integer(
            0,
            0
        )
    }

    func isWatched(_ database: DatabaseID) -> Bool { self.report.watched[database] != nil }

    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID) {
        self.report.note(kind, at: position, in: database)
    }

    func advance(_ zone: ZoneKey, to position: Int64) { self.growth.advance(zone, to: position) }

    func takeIndexNumbers(_ count: Int) -> Int64 {
        self.lastIndex += Int64(count)
        return self.lastIndex - Int64(count) + 1
    }

    /// The number of a record that is created now.
    func takeRecordNumber() -> Int64 {
        self.lastRecord += 1
        return self.lastRecord
    }

    private func noteWritten(_ databases: [DatabaseID]) {
        for database in databases {
            if self.isWatched(database), let position = self.growth.positions[database] {
                self.watchedPositions[database] = position
            }
            guard let account = self.knowledge.accounts[database],
                let bytes = self.growth.databases[database]?.bytes
            else {
                // Nobody knows whose sum it is part of.
                if self.growth.databases[database] != nil {
                    self.knowledge.containerBytes = [:]
                    self.knowledge.userBytes = [:]
                }
                continue
            }
            self.knowledge.containerBytes[account.container]? += bytes
            self.knowledge.userBytes[account.owner]? += bytes
        }
    }
}

extension SQLValue {
    static func integers(_ numbers: [Int64]) -> SQLValue { .integers(numbers.map { Optional($0) }) }
    static func texts(_ texts: [String]) -> SQLValue { .texts(texts.map { Optional($0) }) }
    static func byteStrings(_ values: [[UInt8]]) -> SQLValue { .byteStrings(values.map { Optional($0) }) }
}
