import EngineThreads
import StorageContract
import Synchronization

/// Runs the transactions of the writer, and keeps the state between them.
///
/// Used on the writer's thread alone, except `counted`.
final class TransactionRunner {
    /// The housekeeping rules: their events take effect once the transaction is committed.
    let housekeeping: any Housekeeper
    let session: WriterSession
    let counted = Mutex(EngineStatistics())
    let reachability: Reachability
    let clock: @Sendable () -> Int64
    private let configuration: PostgreSQLEngineConfiguration
    private let now: () -> Int64
    private let reporting: CommitReporting
    private let polling: ChangePolling
    private let report: @Sendable (EngineEvent) -> Void

    private(set) var knowledge = WriterKnowledge()
    private var numbers = RecordNumbers()
    /// `nil` for a command.
    private(set) var lease: HousekeepingLease?
    /// The row of the store, as the last transaction saw it.
    private(set) var storeRow = StoreRow() {
        didSet { self.databaseLead = self.storeRow.nowMilliseconds - self.clock() }
    }
    /// The lead of PostgreSQL's clock over this server's, in milliseconds.
    private var databaseLead: Int64 = 0
    /// The locks that the last transaction lacked, if it failed for that.
    private(set) var need: TransactionPlan.Need?
    /// Whether shared databases must follow a change of this server, while another server does the
    /// housekeeping.
    private(set) var leavesViews = false
    /// Whether another run of the server has its row, or another version the tables: then this
    /// server no longer writes.
    private(set) var isLost = false

    /// Maximum number of attempts at a transaction that could not be committed.
    static let attemptsMax = 8

    /// `now` gives nanoseconds of a monotonic clock.
    init(
        _ configuration: PostgreSQLEngineConfiguration,
        session: WriterSession,
        reachability: Reachability,
        reporting: (own: CommitReporting, others: ChangePolling),
        now: @escaping () -> Int64,
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.configuration = configuration
        self.housekeeping = configuration.housekeeping()
        self.session = session
        self.lease = session.node.map { HousekeepingLease(node: $0.name) }
        self.reachability = reachability
        (self.reporting, self.polling) = reporting
        self.now = now
        self.clock = clock
        self.report = report
    }

    // MARK: One transaction

    /// A plan that locks some databases, or the whole store.
    func plan(_ databases: Set<DatabaseID> = []) -> TransactionPlan {
        var plan = TransactionPlan(node: self.session.node, reach: .databases, databases: databases)
        plan.usesDatabaseClock = self.configuration.usesDatabaseClock
        return plan
    }

    /// Executes work in a transaction and commits it.
    ///
    /// - Throws: The work's error, or `StorageFailure`. Nothing was committed, unless the failure
    ///   is `outcomeUnknown`. With `need` set the same work may succeed with another plan.
    func run<Value>(_ plan: TransactionPlan, _ work: (PostgreSQLTransaction) throws -> Value) throws -> Value
    {
        self.need = nil
        guard !self.isLost else { throw StorageFailure.unavailable(code: 0) }
        let transaction = try self.transaction(plan)
        do {
            try transaction.begin()
            self.note(transaction.storeRow)
            let value = try work(transaction)
            try self.reporting.commit(transaction) { () throws(StorageFailure) in
                try self.commit(transaction)
            }
            self.committed(transaction)
            return value
        } catch {
            self.failed(transaction, error)
            throw error
        }
    }

    /// Repeats work if another transaction, or a lost connection, has prevented its commit.
    func repeated(_ plan: TransactionPlan, _ work: (PostgreSQLTransaction) throws -> Void) throws {
        var plan = plan
        for _ in 1..<Self.attemptsMax {
            do {
                return try self.run(plan, work)
            } catch StorageFailure.conflict {
                self.meetNeed(&plan)
            }
        }
        try self.run(plan, work)
    }

    /// Adds the locks that the last transaction lacked to a plan; returns whether there were any.
    @discardableResult
    func meetNeed(_ plan: inout TransactionPlan) -> Bool {
        plan.node = self.session.node
        guard let need else { return false }
        plan.meet(need)
        return true
    }

    private func transaction(_ plan: TransactionPlan) throws(StorageFailure) -> PostgreSQLTransaction {
        let session = try self.connected()
        if self.knowledge.isLarge { self.forget() }
        let reported = self.reporting.state
        let start = PostgreSQLTransaction.Start(
            knowledge: self.knowledge,
            watched: reported.watched,
            watchedPositions: reported.positions,
            nowMilliseconds: self.clock(),
            numbers: self.numbers,
            lease: self.lease
        )
        return PostgreSQLTransaction(session.connection, tables: session.tables, plan: plan, start)
    }

    private func commit(_ transaction: PostgreSQLTransaction) throws(StorageFailure) {
        let start = self.now()
        if !self.isLost, !self.configuration.mayCommit() { self.isLost = true }
        guard !self.isLost else { throw .unavailable(code: 0) }
        if let witness = self.session.witness, witness.refusesCommits {
            throw .unavailable(code: SQLState.standbyMissing.number)
        }
        guard try transaction.commit() else { return }
        let end = self.now()
        self.counted.withLock { $0.logSyncs.add(nanoseconds: end - start) }
        if let (database, position) = transaction.growth.positions.first {
            self.session.witness?.acknowledged(
                AcknowledgedCommit(database: database.rawValue, position: position)
            )
        }
    }

    private func committed(_ transaction: PostgreSQLTransaction) {
        self.reachability.worked(.writes)
        self.knowledge = transaction.knowledge
        self.numbers = transaction.numbers
        let keptHouse = self.lease?.term != nil
        self.lease = transaction.lease
        if let leavesViews = transaction.leavesViews { self.leavesViews = leavesViews }
        if !keptHouse, self.lease?.term != nil { self.configuration.notice(.keepsHouse) }
        for event in self.housekeeping.takeEvents() { self.report(event) }
    }

    /// Rolls everything back, and notes the locks for the next attempt.
    private func failed(_ transaction: PostgreSQLTransaction, _ error: any Error) {
        self.need = transaction.need
        if self.need != nil, transaction.plan.reach == .databases {
            // All rows that were read are committed. Rules may have cached writes that failed.
            self.knowledge = transaction.knowledge
            self.knowledge.memory = RuleMemory()
        } else {
            self.forget()
        }
        _ = self.housekeeping.takeEvents()
        switch error as? StorageFailure {
        // Numbers may have been used, or reserved.
        case .outcomeUnknown?: self.numbers = RecordNumbers()
        case .unavailable(SQLState.isReplaced.number)?:
            self.isLost = true
            self.report(.logLost(systemError: 0))
        case .unavailable(SQLState.otherFormat.number)?:
            self.noteOtherFormat(transaction.storeRow)
        case .unavailable(SQLState.readOnly.number)?: return self.session.leave()
        case .unavailable?, .unexpected?, .conflict?, .exceeds?, nil: break
        }
        let connection = transaction.connection
        connection.beforeSending = nil
        // Statements queued in the pipeline fail first.
        _ = try? connection.receive()
        _ = try? connection.query(TransactionSQL.rollback)
        connection.names.forget()
        if self.need == .registration { try? self.session.registerAgain() }
    }

    // MARK: Caches

    func connected() throws(StorageFailure) -> WriterSession.Open {
        try self.session.connected { self.forget() }
    }

    private func forget() { self.knowledge = WriterKnowledge() }

    /// Assumes work of every kind: an operator's command may have made some.
    func expectAnyWork() { self.knowledge.possibleWork = Set(HousekeepingKind.allCases) }

    /// Reads other processes' changes of the store's row.
    ///
    /// - Returns: Whether the tables still have this version's format.
    func lookAtOthers() throws -> Bool {
        let row = StoreRow(try self.connected().connection.rows(StoreRow.read))
        guard row.format == StoreTables.format else {
            self.storeRow = row
            self.noteOtherFormat(row)
            return false
        }
        self.note(row)
        if row.generation != self.knowledge.generation {
            self.knowledge = WriterKnowledge(generation: row.generation)
        }
        return true
    }

    private func note(_ row: StoreRow) {
        self.storeRow = row
        self.polling.note(hasOthers: self.hasOthers)
    }

    /// Stops all writes: another version has changed the tables.
    private func noteOtherFormat(_ row: StoreRow) {
        self.isLost = true
        self.configuration.notice(.otherFormat(Int(row.format)))
    }

    /// Whether other servers have the store open.
    var hasOthers: Bool { self.storeRow.nodesCount > (self.session.node == nil ? 0 : 1) }

    /// Whether no other process does the housekeeping, as of the last transaction.
    var mayKeepHouse: Bool {
        guard let lease else {
            return self.storeRow.node.isEmpty
                || self.storeRow.untilMilliseconds <= self.storeRow.nowMilliseconds
        }
        return lease.isHeld(in: self.storeRow) || lease.mayBeTaken(in: self.storeRow)
    }

    /// The time for due housekeeping: from the rows, whatever this server's clock says.
    var housekeepingTime: Int64 {
        self.clock() + (self.configuration.usesDatabaseClock ? self.databaseLead : 0)
    }
}
