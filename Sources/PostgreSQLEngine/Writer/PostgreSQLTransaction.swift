import EngineThreads
import RecordModel
import StorageContract

/// A transaction that writes, on the writer's connection.
///
/// Its plan names the rows to lock first. Contents of a database are read and written only with the
/// database's row locked, and anything else is written only with the whole store locked. An
/// operation that needs more throws `conflict` and records its need (`need`). Positions come from
/// the rows of databases. Writes are sent without waiting; the next read, or the commit, waits for
/// them.
final class PostgreSQLTransaction {
    /// The state to which a failed job is rolled back.
    struct Savepoint {
        fileprivate let growth: Growth
        fileprivate let report: CommitReport
    }

    /// The writer's knowledge at the beginning of a transaction.
    struct Start {
        var knowledge: WriterKnowledge
        var watched: [DatabaseID: EnvironmentID] = [:]
        var watchedPositions: [DatabaseID: Int64] = [:]
        var nowMilliseconds: Int64
        var numbers = RecordNumbers()
        /// `nil` for a command.
        var lease: HousekeepingLease?
    }

    let connection: PostgreSQLConnection
    let tables: TableStatements
    let plan: TransactionPlan
    /// Further rows to lock when the transaction restarts.
    private(set) var need: TransactionPlan.Need?
    private(set) var nowMilliseconds: Int64
    private(set) var positionsTaken = 0
    /// In the unit of the overload rule.
    var workDone = 0
    var report: CommitReport
    var growth = Growth()
    var knowledge: WriterKnowledge
    /// Records and outcomes that jobs need not read; empty if the store has changed since.
    private(set) var known: KnownRecords
    let outcomes = PrefetchedOutcomes()
    /// Rows to send before the next statement.
    let deferred = DeferredWrites()
    /// The last positions of databases with locked rows.
    private var lockedPositions: [DatabaseID: Int64] = [:]
    /// Whether a schema was changed.
    var changesSchema = false
    /// Whether shared databases must follow; `nil` if the transaction changed nothing that concerns
    /// them.
    var leavesViews: Bool?
    /// Whether there were writes that the counters do not show.
    var isChanged = false
    private(set) var numbers: RecordNumbers
    private(set) var lease: HousekeepingLease?
    private var isLeaseChanged = false
    /// The row of the store as it was read, or is to be written.
    private(set) var storeRow = StoreRow()
    private var newRow = StoreRow()
    /// The positions of watched databases that were requested or changed.
    private(set) var watchedPositions: [DatabaseID: Int64]
    /// Later changes of other servers in watched databases.
    private(set) var changesOfOthers = ChangesBehindLocks()

    init(_ connection: PostgreSQLConnection, tables: TableStatements, plan: TransactionPlan, _ start: Start) {
        self.connection = connection
        self.tables = tables
        self.plan = plan
        self.knowledge = start.knowledge
        self.known = KnownRecords(start.knowledge.records)
        self.report = CommitReport(watched: start.watched)
        self.watchedPositions = start.watchedPositions
        self.nowMilliseconds = start.nowMilliseconds
        self.numbers = start.numbers
        self.lease = start.lease
    }

    var memory: RuleMemory { self.knowledge.memory }

    var origin: ChangeOrigin? {
        get { self.report.origin }
        set { self.report.origin = newValue }
    }

    // MARK: Beginning and end

    /// Begins the transaction, and locks the rows of the plan.
    ///
    /// Drops caches that another process has invalidated.
    ///
    /// - Throws: `unavailable` if another run of the server has taken its row, or another version
    ///   the tables.
    func begin() throws(StorageFailure) {
        var boots: [Int64: Int64] = [:]
        func noteNodes(_ rows: ResultRows) {
            for row in 0..<rows.count { boots[rows.integer(row, 0)] = rows.integer(row, 1) }
        }
        try self.connection.write(TransactionSQL.begin)
        self.connection.beforeSending = { [weak self] () throws(StorageFailure) in try self?.sendDeferred() }
        switch self.plan.reach {
        case .store:
            try self.connection.write(StoreRow.lock) { self.storeRow = StoreRow($0) }
            try self.connection.write(NodeRegistration.lockAll, receive: noteNodes)
        case .databases:
            let number = SQLValue.integer(self.plan.node?.number ?? 0)
            try self.connection.write(NodeRegistration.lock, [number], receive: noteNodes)
            // It cannot change meanwhile, as that takes a lock on this server's row.
            try self.connection.write(StoreRow.read) { self.storeRow = StoreRow($0) }
        }
        let databases = SQLValue.integers(self.plan.databases.map(\.rawValue))
        try self.connection.write(CounterSQL.lockDatabases, [databases]) { self.noteLocked($0) }
        try self.sendPrefetches()
        try self.connection.drain()
        guard self.storeRow.format == StoreTables.format else {
            throw .unavailable(code: SQLState.otherFormat.number)
        }
        if let node = self.plan.node {
            guard let boot = boots[node.number] else { throw self.needing(.registration) }
            guard boot == node.boot else { throw .unavailable(code: SQLState.isReplaced.number) }
        }
        self.begun()
        try self.known.settle(on: self.connection)
        try self.readOthers()
    }

    /// Requests the rows that the jobs name, in the round trip that locks: PostgreSQL executes
    /// statements in order, and each sees everything committed before it began.
    private func sendPrefetches() throws(StorageFailure) {
        for prefetch in self.plan.prefetches {
            for records in prefetch.records {
                let name = WriterKnowledge.ZoneName(database: records.database, name: records.zone)
                guard let zone = self.knowledge.zones[name] else { continue }
                self.known.want(records.names, in: zone)
            }
            if let request = prefetch.request { self.outcomes.want(request.id, in: request.database) }
        }
        try self.outcomes.send(on: self.connection)
        try self.known.send(on: self.connection)
    }

    private func begun() {
        if self.plan.usesDatabaseClock { self.nowMilliseconds = self.storeRow.nowMilliseconds }
        if self.knowledge.generation != self.storeRow.generation {
            // Prefetched records may be of deleted zones.
            self.forget(generation: self.storeRow.generation)
        }
        let others = self.storeRow.nodesCount - (self.plan.node == nil ? 0 : 1)
        self.knowledge.forgetOldSums(nowMilliseconds: self.storeRow.nowMilliseconds, isAlone: others <= 0)
        self.newRow = self.storeRow
        if self.plan.reach == .store {
            self.isLeaseChanged = self.lease?.keep(&self.newRow) ?? false
        }
    }

    private func noteLocked(_ rows: ResultRows) {
        for row in 0..<rows.count {
            let database = DatabaseID(rawValue: rows.integer(row, 0))
            let position = rows.integer(row, 1)
            self.lockedPositions[database] = position
            self.knowledge.records.note(position: position, of: database)
            guard let environment = self.report.watched[database], self.growth.positions[database] == nil,
                let known = self.watchedPositions[database], position > known
            else { continue }
            self.changesOfOthers.note(database, environment, after: known)
            self.watchedPositions[database] = position
        }
    }

    private func readOthers() throws(StorageFailure) {
        var changes = self.changesOfOthers
        try changes.read(in: self)
        self.changesOfOthers = changes
    }

    private func sendDeferred() throws(StorageFailure) {
        try DeferredStatements(transaction: self).send(self.deferred)
    }

    /// Whether the transaction may do housekeeping.
    var mayKeepHouse: Bool {
        guard self.plan.reach == .store else { return false }
        // A command does housekeeping if no server does.
        guard let lease else {
            return self.storeRow.node.isEmpty
                || self.storeRow.untilMilliseconds <= self.storeRow.nowMilliseconds
        }
        return lease.isHeld(in: self.newRow)
    }

    /// Whether there is anything to commit.
    var hasChanges: Bool {
        self.isChanged || !self.growth.isEmpty || self.newRow.lastRecord != self.storeRow.lastRecord
            || self.newRow.lastIndex != self.storeRow.lastIndex
    }

    /// Writes the counters and commits, in one round trip.
    ///
    /// - Returns: Whether there was anything to commit.
    ///
    /// - Throws: `conflict` if nothing was committed, `outcomeUnknown` if that is not known.
    func commit() throws(StorageFailure) -> Bool {
        try self.sendDeferred()
        // Rows found by deletes and inserts count as well. Otherwise there is no need to wait:
        // after a failure PostgreSQL executes nothing more of a pipeline, and so no commit.
        if self.connection.awaitsRows { try self.connection.drain() }
        for database in self.growth.changedDatabases { try self.require(database) }
        let isChanged = self.hasChanges
        var row = self.newRow
        if isChanged {
            try self.growth.write(on: self.connection)
            self.noteWritten(self.growth.changedDatabases)
        }
        if self.plan.reach == .store, isChanged || self.isLeaseChanged {
            if isChanged { row.generation &+= 1 }
            if self.changesSchema { row.schemaVersion &+= 1 }
            try self.connection.write(StoreRow.write, row.parameters)
        }
        var command = ""
        do throws(PostgreSQLError) {
            try self.connection.send(TransactionSQL.commit) { command = $0.command }
            self.connection.beforeSending = nil
            try self.connection.receive()
        } catch {
            if case .lost = error.kind { throw .outcomeUnknown }
            throw StorageFailure(error)
        }
        // A failed transaction ends with a rollback, which is not an error.
        guard command == "COMMIT" else { throw .conflict }
        self.knowledge.generation = row.generation
        self.known.committed(self.growth.positions)
        return isChanged || self.isLeaseChanged
    }

    // MARK: Rows that are locked

    /// Records that the row of a database must be locked, unless it is.
    func require(_ database: DatabaseID) throws(StorageFailure) {
        guard self.plan.reach == .databases, !self.plan.databases.contains(database) else { return }
        throw self.needing(.database(database))
    }

    /// Records that the whole store must be locked, unless it is.
    func requireStore() throws(StorageFailure) {
        guard self.plan.reach == .databases else { return }
        throw self.needing(.store)
    }

    private func needing(_ need: TransactionPlan.Need) -> StorageFailure {
        self.need = need
        return .conflict
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
        self.deferred.forget()
        // A failure may have left queued statements, which fail as well.
        do throws(StorageFailure) { try self.connection.drain() } catch {}
        try self.connection.write(TransactionSQL.rollbackToSavepoint)
        try self.connection.write(TransactionSQL.release)
        try self.connection.drain()
        self.growth = savepoint.growth
        self.report = savepoint.report
        self.forget(generation: self.knowledge.generation)
        self.connection.names.forget()
        self.outcomes.forget()
    }

    /// Drops all caches of the store, as of a generation.
    private func forget(generation: Int64?) {
        self.knowledge = WriterKnowledge(generation: generation)
        self.known = KnownRecords(self.knowledge.records)
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
        try self.require(database)
        if let taken = self.growth.positions[database] { return taken }
        if let locked = try self.lockedPosition(of: database) { return locked }
        let number = SQLValue.integers([database.rawValue])
        self.noteLocked(try self.connection.rows(CounterSQL.lockDatabases, [number]))
        guard self.lockedPositions[database] != nil else { throw .unexpected(code: 3) }
        try self.readOthers()
        return try self.lockedPosition(of: database) ?? 0
    }

    private func lockedPosition(of database: DatabaseID) throws(StorageFailure) -> Int64? {
        guard let position = try self.lockedPositions[database]?.counted() else { return nil }
        guard position >= 0 else { throw .unexpected(code: 0) }
        return position
    }

    /// Forces positions to be read again after their rows were written; they stay locked.
    func forgetLockedPositions() { self.lockedPositions = [:] }

    func lastChange(
        inZonesOf database: DatabaseID,
        exceptNamed name: String
    ) throws(StorageFailure) -> Int64 {
        try self.require(database)
        let rows = try self.connection.rows(
            CounterSQL.lastChange,
            [.integer(database.rawValue), .text(name)]
        )
        return rows.integer(0, 0)
    }

    func isWatched(_ database: DatabaseID) -> Bool { self.report.watched[database] != nil }

    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID) {
        self.report.note(kind, at: position, in: database)
    }

    func advance(_ zone: ZoneKey, to position: Int64) { self.growth.advance(zone, to: position) }

    /// A transaction that takes one writes rows that need the whole store.
    func takeIndexNumbers(_ count: Int) throws(StorageFailure) -> Int64 {
        self.newRow.lastIndex = try self.newRow.lastIndex.counted() + Int64(count)
        return self.newRow.lastIndex - Int64(count) + 1
    }

    /// The number of a new record: a server uses its reservation, a command takes the next one.
    func takeRecordNumber() throws(StorageFailure) -> Int64 {
        guard self.plan.node != nil else {
            self.newRow.lastRecord = try self.newRow.lastRecord.counted() + 1
            return self.newRow.lastRecord
        }
        if let number = self.numbers.take() { return number }
        try self.requireStore()
        try self.numbers.reserve(in: &self.newRow)
        guard let number = self.numbers.take() else { throw .unexpected(code: 6) }
        return number
    }

    private func noteWritten(_ databases: [DatabaseID]) {
        for database in databases {
            if self.isWatched(database), let position = self.growth.positions[database] {
                self.watchedPositions[database] = position
            }
            guard let account = self.knowledge.accounts[database],
                let bytes = self.growth.databases[database]?.bytes
            else {
                // The account of the database is unknown.
                if self.growth.databases[database] != nil {
                    self.knowledge.containerBytes = [:]
                    self.knowledge.userBytes = [:]
                }
                continue
            }
            let (container, owner) = (account.container, account.owner)
            self.knowledge.containerBytes[container] =
                self.knowledge.containerBytes[container]?.adding(clamped: bytes)
            self.knowledge.userBytes[owner] = self.knowledge.userBytes[owner]?.adding(clamped: bytes)
        }
    }
}

extension SQLValue {
    static func integers(_ numbers: [Int64]) -> SQLValue { .integers(numbers.map { Optional($0) }) }
    static func texts(_ texts: [String]) -> SQLValue { .texts(texts.map { Optional($0) }) }
    static func byteStrings(_ values: [[UInt8]]) -> SQLValue { .byteStrings(values.map { Optional($0) }) }
}

extension PostgreSQLTransaction: BatchTransaction {
    func isolate(_ job: WriteJob) throws(StorageFailure) -> Result<WriteJob.Progress, JobFailure> {
        let savepoint = try self.setSavepoint()
        do throws(StorageFailure) {
            let progress = try self.execute(job)
            try self.release()
            return .success(progress)
        } catch {
            // All of them must then restart.
            guard self.need == nil else { throw error }
            try self.takeBack(to: savepoint)
            return .failure(.storage(error))
        }
    }
}
