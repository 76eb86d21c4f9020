import EngineThreads
import GRDBSQLite
import StorageContract

/// A transaction on the writer's connection: its begin and end, and its primitives, which the parts
/// implement.
///
/// One object for all consecutive transactions, used by the writer's thread alone. No part knows
/// the transaction, and each knows only the parts above it here.
final class WriterTransaction {
    let meter = WorkMeter()
    let work: HousekeepingWork
    let tables: TableStatements
    let indexes: IndexSearch
    let positions: WriterPositions
    let reports: CommitReports
    let order: ChangeOrder
    let names: WriterNames
    let entries: WriterEntries
    let references: WriterReferences
    let records: WriterRecords
    let zones: WriterZones
    let usage: WriterUsage

    private(set) var nowMilliseconds: Int64 = 0
    /// The in-memory state of the rules.
    private(set) var memory = RuleMemory()
    private var dataVersion: Int64 = -1
    private let statements: TransactionStatements
    private let connection: OpaquePointer

    /// Maximum number of cached names, zones and counters; beyond it all are dropped.
    private static let knownMax = 50_000

    init(
        connection: OpaquePointer,
        observation: CommitObservation
    ) throws(StorageFailure) {
        let work = HousekeepingWork()
        let tables = TableStatements(connection: connection)
        let positions = try WriterPositions(connection)
        let reports = CommitReports(observation, positions)
        let order = try ChangeOrder(connection)
        let names = try WriterNames(connection, tables: tables)
        let entries = try WriterEntries(connection, order: order, meter: self.meter)
        let references = try WriterReferences(connection, order: order, meter: self.meter)
        self.work = work
        self.tables = tables
        self.indexes = try IndexSearch(connection)
        self.positions = positions
        self.reports = reports
        self.order = order
        self.names = names
        self.entries = entries
        self.references = references
        self.records = try WriterRecords(
            connection,
            names: names,
            order: order,
            entries: entries,
            references: references,
            meter: self.meter
        )
        self.zones = try WriterZones(connection, order: order, entries: entries)
        self.usage = try WriterUsage(
            connection,
            order: order,
            entries: entries,
            positions: positions,
            reports: reports
        )
        self.statements = try TransactionStatements(connection)
        self.connection = connection
    }

    /// Starts a transaction; waits for a writer of another process.
    func begin(nowMilliseconds: Int64) throws(StorageFailure) {
        self.nowMilliseconds = nowMilliseconds
        self.trim()
        self.reports.begin()
        try self.statements.begin.run()
        let version = try self.currentDataVersion()
        if version != self.dataVersion {
            self.forget()
            self.dataVersion = version
            try self.reports.noteChangesOfOthers()
        }
    }

    /// Pages added to the log since the last call.
    func takePagesWritten() -> Int {
        var pages: Int32 = 0
        var most: Int32 = 0
        sqlite3_db_status(self.connection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &most, 1)
        return Int(pages)
    }

    /// Whether another connection wrote since the last transaction.
    ///
    /// Needs no transaction.
    func othersHaveWritten() throws(StorageFailure) -> Bool {
        try self.currentDataVersion() != self.dataVersion
    }

    /// Changes with every commit of another connection, such as the command line's.
    private func currentDataVersion() throws(StorageFailure) -> Int64 {
        _ = try self.statements.dataVersion.step()
        defer { self.statements.dataVersion.reset() }
        return self.statements.dataVersion.integer(0)
    }

    /// Drops all cached state.
    private func forget() {
        self.forgetKnown()
        self.positions.forget()
        self.work.mayBeAny()
    }

    /// Drops cached state except positions, which may leave gaps but not go back.
    func forgetKnown() {
        self.names.forget()
        self.zones.forget()
        self.usage.forget()
        self.order.forgetStale()
        self.memory = RuleMemory()
    }

    /// Bounds the memory; call it between transactions only.
    private func trim() {
        let count =
            self.positions.count + self.zones.count + self.names.count + self.usage.count
            + self.memory.count
        guard count > Self.knownMax else { return }
        self.forgetKnown()
        self.positions.forget()
    }

    /// Makes the changes visible, after announcing the commit to the log sync.
    func commit(_ sync: LogSync) throws(StorageFailure) -> LogSync.Announced {
        try self.entries.write()
        try self.usage.write()
        try self.order.write()
        let changed = self.positions.takeChanged()
        var announced = sync.willCommit(changed)
        do {
            try self.statements.commit.run()
        } catch {
            sync.abandoned(announced)
            throw error
        }
        self.reports.commit(atMilliseconds: self.nowMilliseconds)
        announced.end = SyncedEnd(
            self.connection,
            place: changed.last.flatMap { self.positions.place(in: $0) },
            milliseconds: self.nowMilliseconds
        )
        return announced
    }

    /// Rolls back everything since `begin`, in memory as well.
    ///
    /// Needs no transaction.
    func rollback() {
        self.forget()
        self.dataVersion = -1
        self.entries.removeAll()
        self.order.pending.removeAll()
        self.reports.current = CommitReport()
        // SQLite rolls back by itself after some failures; this statement then fails, as there is
        // nothing to roll back.
        try? self.statements.rollback.run()
        // Pages of the failed transaction were counted as well.
        _ = self.takePagesWritten()
    }

    /// Executes a part of the transaction; rolls the part back if it fails.
    ///
    /// - Throws: The failure of the work: `unavailable` too when the transaction as a whole is
    ///   lost.
    func isolated<Value>(
        _ work: () throws(StorageFailure) -> Value
    ) throws(StorageFailure) -> Value {
        try self.entries.write()
        try self.statements.savepoint.run()
        let pending = self.order.pending
        let report = self.reports.current
        do throws(StorageFailure) {
            let value = try work()
            try self.entries.write()
            try self.statements.release.run()
            return value
        } catch {
            self.entries.removeAll()
            self.forgetKnown()
            self.order.pending = pending
            self.reports.current = report
            self.work.mayBeAny()
            do throws(StorageFailure) {
                try self.statements.rollbackToSavepoint.run()
                try self.statements.release.run()
            } catch let lost {
                // SQLite has rolled back the whole transaction, as it does after some failures.
                throw .unavailable(code: lost.code)
            }
            throw error
        }
    }
}

extension WriterTransaction: BatchTransaction {
    var workDone: Int {
        get { self.meter.done }
        set { self.meter.done = newValue }
    }

    func isolate(_ job: WriteJob) throws(StorageFailure) -> Result<WriteJob.Progress, JobFailure> {
        do throws(StorageFailure) {
            return .success(try self.isolated { () throws(StorageFailure) in try self.execute(job) })
        } catch {
            // No job can write now.
            if case .unavailable = error { throw error }
            return .failure(.storage(error))
        }
    }
}
