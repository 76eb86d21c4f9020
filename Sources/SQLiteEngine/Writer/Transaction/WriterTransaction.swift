import GRDBSQLite
import RecordModel
import RecordStore

/// A transaction on the writer's connection: its beginning and its end, and its primitives, which
/// the parts bring.
///
/// One object for all transactions, one after the other, used by the writer's thread alone. No part
/// knows the transaction, and each knows only parts that stand above it here.
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
    /// The memory of the rules.
    private(set) var memory = RuleMemory()
    private var dataVersion: Int64 = -1
    private let statements: TransactionStatements
    private let connection: OpaquePointer

    /// What is known without asking the file is forgotten beyond so many names, zones and counters.
    private static let knownMax = 50_000

    init(
        connection: OpaquePointer,
        observation: CommitObservation,
        pendingViews: PendingViews
    ) throws(StorageFailure) {
        let work = HousekeepingWork(pendingViews)
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
        self.zones = try WriterZones(
            connection,
            order: order,
            entries: entries,
            reports: reports,
            work: work
        )
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

    /// Pages that went into the log since this was asked last.
    func takePagesWritten() -> Int {
        var pages: Int32 = 0
        var most: Int32 = 0
        sqlite3_db_status(self.connection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &most, 1)
        return Int(pages)
    }

    /// Whether somebody else wrote since the last transaction.
    ///
    /// Needs no transaction.
    func othersHaveWritten() throws(StorageFailure) -> Bool {
        try self.currentDataVersion() != self.dataVersion
    }

    /// Changes with every commit of somebody else, such as the command line's.
    private func currentDataVersion() throws(StorageFailure) -> Int64 {
        _ = try self.statements.dataVersion.step()
        defer { self.statements.dataVersion.reset() }
        return self.statements.dataVersion.integer(0)
    }

    /// Trusts nothing that is in memory.
    private func forget() {
        self.forgetKnown()
        self.positions.forget()
        self.work.mayBeAny()
    }

    /// Forgets what is known of the file but the positions, which may leave gaps but not go back.
    func forgetKnown() {
        self.names.forget()
        self.zones.forget()
        self.usage.forget()
        self.order.forgetStale()
        self.memory = RuleMemory()
    }

    /// Bounds the memory; to be called between transactions only.
    private func trim() {
        let count =
            self.positions.count + self.zones.count + self.names.count + self.usage.count
            + self.memory.count
        guard count > Self.knownMax else { return }
        self.forgetKnown()
        self.positions.forget()
    }

    /// Makes what was written visible, after it is announced to who makes it durable.
    func commit(_ sync: LogSync) throws(StorageFailure) -> LogSync.Announced {
        try self.entries.write()
        try self.usage.write()
        try self.order.write()
        let announced = sync.willCommit(self.positions.takeChanged())
        do {
            try self.statements.commit.run()
        } catch {
            sync.abandoned(announced)
            throw error
        }
        self.work.committed()
        self.reports.commit(atMilliseconds: self.nowMilliseconds)
        return announced
    }

    /// Takes back everything since `begin`, in memory as well.
    ///
    /// Needs no transaction.
    func rollback() {
        self.forget()
        self.dataVersion = -1
        self.entries.removeAll()
        self.order.pending.removeAll()
        self.reports.current = CommitReport()
        // SQLite rolls back by itself after some failures; there is nothing to roll back then, and
        // it says so.
        try? self.statements.rollback.run()
    }

    /// Does a part of the transaction, or nothing of it when it fails.
    ///
    /// - Throws: The failure of the work: `unavailable` too when the transaction as a whole is lost.
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
                // SQLite has rolled back everything by itself, as it does after some failures.
                throw .unavailable(code: lost.code)
            }
            throw error
        }
    }
}

/// The primitives, each of which is a part's.
extension WriterTransaction: WriteTransaction {
    var positionsTaken: Int { self.positions.taken }

    /// The connection that makes the changes of the request which is being executed.
    var origin: ChangeOrigin? {
        get { self.reports.current.origin }
        set { self.reports.current.origin = newValue }
    }

    // MARK: Zones

    func zones(
        named names: [String],
        in database: DatabaseID
    ) throws(StorageFailure) -> [ZoneKey?] {
        try self.zones.keys(of: names, in: database)
    }

    func createZone(
        named name: String,
        in database: DatabaseID,
        at position: Int64
    ) throws(StorageFailure) -> ZoneKey {
        try self.zones.create(named: name, in: database, at: position)
    }

    func deleteZone(_ zone: ZoneKey, named name: String, at position: Int64) throws(StorageFailure) {
        try self.zones.delete(
            zone,
            named: name,
            at: position,
            nowMilliseconds: self.nowMilliseconds
        )
    }

    func advance(_ zone: ZoneKey, to position: Int64) { self.order.pending.move(to: position, in: zone) }

    func lastChange(
        inZonesOf database: DatabaseID,
        exceptNamed name: String
    ) throws(StorageFailure) -> Int64 {
        try self.zones.lastChange(in: database, exceptNamed: name)
    }

    // MARK: Records and references

    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        try self.records.find(names, in: zone, bytesMax: bytesMax)
    }

    func apply(
        _ writes: RecordWrites,
        to zone: ZoneKey,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [Int64] {
        try self.records.apply(
            writes,
            to: zone,
            in: environment,
            nowMilliseconds: self.nowMilliseconds
        )
    }

    func referrers(
        of targets: [String],
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) throws(StorageFailure) -> [[Referrer]] {
        try self.references.referrers(of: targets, in: zone, behind: name, limit: limit)
    }

    func countsOfDeleteSelfReferrers(
        of targets: [String],
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [Int] {
        try self.references.countsOfDeleteSelfReferrers(of: targets, in: zone, limit: limit)
    }

    // MARK: Types and indexes

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        try self.names.types(named: names, in: environment)
    }

    func takeIndexNumbers(_ count: Int) throws(StorageFailure) -> Int64 {
        try self.entries.takeIndexNumbers(count)
    }

    // MARK: Positions and the observer

    func takePosition(in database: DatabaseID) throws(StorageFailure) -> Int64 {
        try self.positions.take(in: database)
    }

    func position(of database: DatabaseID) throws(StorageFailure) -> Int64 {
        try self.reports.startingPosition(of: database)
    }

    func isWatched(_ database: DatabaseID) -> Bool { self.reports.isWatched(database) }

    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID) {
        self.reports.note(kind, at: position, in: database)
    }

    // MARK: Usage

    func count(_ growth: StoredAmount, in database: DatabaseID) {
        self.order.pending.count(growth, in: database)
    }

    func count(rowBytes: Int, in zone: ZoneKey) { self.order.pending.count(rowBytes: rowBytes, in: zone) }

    func bytesStored(
        under quota: Quota,
        with database: DatabaseID
    ) throws(StorageFailure) -> Int64? {
        try self.usage.bytesStored(under: quota, with: database)
    }
}
