import GRDBSQLite
import RecordModel
import RecordStore

/// The primitives of a transaction on the writer's connection.
///
/// One object for all transactions, one after the other, used by the writer's thread alone.
final class WriterTransaction: WriteTransaction {
    private(set) var nowMilliseconds: Int64 = 0
    var caches = WriterCaches()
    var entries = EntryQueue()
    let statements: WriterStatements
    /// Whether deleted zones may have left something to sweep.
    var mayHaveSweepWork = true
    /// Whether indexes may have to be filled or emptied.
    var mayHaveIndexWork = true
    /// Whether shared databases may have to be told of something.
    var mayHaveViewWork: Bool { self.pendingViews.mayBeAny }
    /// Whether the transaction has told them of everything.
    private var viewsAreTold = false
    /// Positions that were taken in any database since the process began.
    ///
    /// Everything that changes something takes one.
    private(set) var positionsTaken = 0
    /// Work since the process began, in the unit of the overload rule.
    ///
    /// The holder pays for a request that took more than its size said.
    var workDone = 0
    /// Outcomes of requests stored since housekeeping asked last.
    var outcomesStored = 0
    /// The order of what the transaction has written.
    var changes = PendingChanges()
    /// Entries of `change` that the transaction before made stale.
    var staleWritten = 0
    /// Passes commits on to their observer.
    let observation: CommitObservation
    private let pendingViews: PendingViews
    /// Changes of the transaction in watched databases.
    var report = CommitReport()
    private var committed: CommittedChanges?
    /// The positions of watched databases after the last commit of ours.
    var watchedPositions: [DatabaseID: Int64] = [:]
    private var dataVersion: Int64 = -1
    private let connection: OpaquePointer

    init(
        connection: OpaquePointer,
        observation: CommitObservation,
        pendingViews: PendingViews
    ) throws(StorageFailure) {
        self.connection = connection
        self.statements = try WriterStatements(connection: connection)
        self.observation = observation
        self.pendingViews = pendingViews
    }

    /// Starts a transaction; waits for a writer of another process.
    func begin(nowMilliseconds: Int64) throws(StorageFailure) {
        self.nowMilliseconds = nowMilliseconds
        self.caches.trim()
        self.report = CommitReport(watched: self.observation.watched)
        try self.statements.begin.run()
        let version = try self.currentDataVersion()
        if version != self.dataVersion {
            self.forget()
            self.dataVersion = version
            try self.noteChangesOfOthers()
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
        self.caches = WriterCaches()
        self.mayHaveSweepWork = true
        self.mayHaveIndexWork = true
        self.wantViewWork()
    }

    /// Notes that shared databases have to be told of something, before anybody can see it.
    func wantViewWork() {
        self.pendingViews.mayBeAny = true
        self.viewsAreTold = false
    }

    /// Notes that nothing is left to tell them, when this is committed.
    func viewsWereTold() { self.viewsAreTold = true }

    /// Makes what was written visible, after it is announced to who makes it durable.
    func commit(_ sync: LogSync) throws(StorageFailure) -> LogSync.Announced {
        try self.writeEntries()
        try self.writeCounters()
        try self.writeChanges()
        let announced = sync.willCommit(self.caches.changedCounters)
        self.caches.changedCounters.removeAll(keepingCapacity: true)
        do {
            try self.statements.commit.run()
        } catch {
            sync.abandoned(announced)
            throw error
        }
        if self.viewsAreTold { self.pendingViews.mayBeAny = false }
        self.viewsAreTold = false
        self.committed = self.report.committed(atMilliseconds: self.nowMilliseconds)
        self.watchedPositions.merge(self.report.incomplete) { max($0, $1) }
        self.report = CommitReport()
        return announced
    }

    /// What the last commit is to be told of, once.
    func takeCommitted() -> CommittedChanges? {
        defer { self.committed = nil }
        return self.committed
    }

    /// Takes back everything since `begin`, in memory as well.
    ///
    /// Needs no transaction.
    func rollback() {
        self.forget()
        self.dataVersion = -1
        self.entries.removeAll()
        self.changes.removeAll()
        self.report = CommitReport()
        // SQLite rolls back by itself after some failures; there is nothing to roll back then, and
        // it says so.
        try? self.statements.rollback.run()
    }

    /// Does a part of the transaction, or nothing of it when it fails.
    ///
    /// - Throws: The failure of the work: `unavailable` too when the transaction as a whole is lost.
    func isolated<Answer>(
        _ work: () throws(StorageFailure) -> Answer
    ) throws(StorageFailure) -> Answer {
        try self.writeEntries()
        try self.statements.savepoint.run()
        let changes = self.changes
        let report = self.report
        do throws(StorageFailure) {
            let answer = try work()
            try self.writeEntries()
            try self.statements.release.run()
            return answer
        } catch {
            self.entries.removeAll()
            self.caches.forgetNames()
            self.changes = changes
            self.report = report
            self.mayHaveSweepWork = true
            self.mayHaveIndexWork = true
            self.wantViewWork()
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

    func takePosition(in database: DatabaseID) throws(StorageFailure) -> Int64 {
        let counter = try self.counter(of: database)
        counter.position += 1
        self.positionsTaken += 1
        if !counter.isChanged {
            counter.isChanged = true
            self.caches.changedCounters.append(database)
        }
        return counter.position
    }

    private func counter(of database: DatabaseID) throws(StorageFailure) -> WriterCaches.Counter {
        if let last = self.caches.lastCounter, last.database == database { return last.counter }
        let counter: WriterCaches.Counter
        if let known = self.caches.counters[database] {
            counter = known
        } else {
            counter = WriterCaches.Counter(position: try self.lastPosition(of: database), isChanged: false)
            self.caches.counters[database] = counter
        }
        self.caches.lastCounter = (database, counter)
        return counter
    }

    // MARK: Zones

    func zones(
        named names: [String],
        in database: DatabaseID
    ) throws(StorageFailure) -> [ZoneKey?] {
        var keys: [ZoneKey?] = []
        keys.reserveCapacity(names.count)
        for name in names { keys.append(try self.knownZone(named: name, in: database)) }
        return keys
    }

    private func knownZone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        let cacheKey = WriterCaches.Name(owner: database.rawValue, name: name)
        if let key = self.caches.zones[cacheKey] { return key }
        let statement = self.statements.zones.find
        statement.bind(1, database.rawValue)
        statement.bind(2, name)
        guard try statement.step() else { return nil }
        let key = ZoneKey(statement, in: database)
        statement.reset()
        self.caches.zones[cacheKey] = key
        return key
    }

    /// The number is the position of the creation: no other zone of the database ever has it.
    func createZone(
        named name: String,
        in database: DatabaseID,
        at position: Int64
    ) throws(StorageFailure) -> ZoneKey {
        let statement = self.statements.zones.insert
        statement.bind(1, database.rawValue)
        statement.bind(2, name)
        statement.bind(3, position)
        try statement.run()
        let key = ZoneKey(database: database, number: position)
        self.changes.count(rowBytes: RowBytes.zone(named: name), in: database)
        self.caches.zones[WriterCaches.Name(owner: database.rawValue, name: name)] = key
        self.note(.zoneCreated(name), at: position, in: database)
        return key
    }

    func deleteZone(_ zone: ZoneKey, named name: String, at position: Int64) throws(StorageFailure) {
        self.caches.zones[WriterCaches.Name(owner: zone.database.rawValue, name: name)] = nil
        let bytes = try self.dropContents(of: zone, named: name)
        self.statements.zones.delete.bind(1, zone.database.rawValue)
        self.statements.zones.delete.bind(2, name)
        try self.statements.zones.delete.run()
        self.statements.zones.insertTombstone.bind(1, zone.database.rawValue)
        self.statements.zones.insertTombstone.bind(2, position)
        self.statements.zones.insertTombstone.bind(3, name)
        self.statements.zones.insertTombstone.bind(4, zone.number)
        self.statements.zones.insertTombstone.bind(5, self.nowMilliseconds)
        try self.statements.zones.insertTombstone.run()
        self.statements.zones.insertSweep.bind(1, zone.database.rawValue)
        self.statements.zones.insertSweep.bind(2, zone.number)
        self.statements.zones.insertSweep.bind(3, Int64(bytes))
        try self.statements.zones.insertSweep.run()
        self.mayHaveSweepWork = true
        self.note(.zoneDeleted(name), at: position, in: zone.database)
    }

    // MARK: What rules know and say

    var memory: RuleMemory { self.caches.memory }

    var origin: ChangeOrigin? {
        get { self.report.origin }
        set { self.report.origin = newValue }
    }

    func advance(_ zone: ZoneKey, to position: Int64) { self.changes.move(to: position, in: zone) }

    // MARK: Counting

    /// Outcomes of requests stored since this was asked last.
    func takeOutcomesStored() -> Int {
        defer { self.outcomesStored = 0 }
        return self.outcomesStored
    }
}
