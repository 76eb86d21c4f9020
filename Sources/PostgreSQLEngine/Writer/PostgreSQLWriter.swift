import EngineThreads
import Foundation
import RecordStore
import Synchronization

/// The one thread that writes: it executes what waits, one transaction after the other.
///
/// A transaction locks the databases of its jobs, and nothing else that other servers lock. One that turns
/// out to change more begins anew with the whole store locked.
///
/// `BatchExecution` says what happens when one job fails. Without a connection nothing is executed, and
/// every job fails until there is one again.
///
/// SAFETY: what is below `housekeeping` is used on the writer's thread only; the rest is immutable or locked.
final class PostgreSQLWriter: @unchecked Sendable {
    let queue: WriteQueue
    let configuration: PostgreSQLEngineConfiguration
    let clock: @Sendable () -> Int64
    let report: @Sendable (EngineEvent) -> Void
    let counted = Mutex(EngineStatistics())
    let room = RoomProbe()
    let reachability: Reachability
    private let reporting: CommitReporting
    private let polling: ChangePolling

    let housekeeping: Housekeeping
    let session: WriterSession
    private var knowledge = WriterKnowledge()
    private var numbers = RecordNumbers()
    /// `nil` for a command.
    private var lease: HousekeepingLease?
    /// The row of the store, as the last transaction saw it.
    private var storeRow = StoreRow() {
        didSet { self.databaseLead = self.storeRow.nowMilliseconds - self.clock() }
    }
    /// The lead of PostgreSQL's clock over this server's, in milliseconds.
    private var databaseLead: Int64 = 0
    /// The locks that the last transaction lacked, if it began in vain.
    var need: TransactionPlan.Need?
    /// When the server said last that it runs, by the clock that only goes forward.
    private var heartbeat: Int64
    /// When the last housekeeping between two batches ended.
    private var keptHouse: Int64
    private var batchesSinceHousekeeping = 0
    /// Whether shared databases have to follow a change of this server, while another one keeps house.
    private var leavesViews = false
    /// When the database's size was asked for last.
    private var measured: Int64
    /// Whether another run of the server has its row: then nothing is written any more.
    private var isLost = false

    /// How long the thread waits before it looks for what others have written: alone, and beside others.
    private static let waitMillisecondsMax: Int64 = 1_000
    private static let waitBesideMilliseconds: Int64 = 250
    /// The pause between two steps of housekeeping while requests wait.
    private static let housekeepingPauseNanoseconds: Int64 = 20_000_000
    /// After so many batches there is a step, whether anything is known to do or not.
    private static let batchesBetweenHousekeeping = 250
    /// So often a transaction is begun again that could not be committed.
    static let attemptsMax = 8

    init(
        queue: WriteQueue,
        configuration: PostgreSQLEngineConfiguration,
        session: WriterSession,
        reachability: Reachability,
        reporting: (own: CommitReporting, others: ChangePolling),
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.queue = queue
        self.configuration = configuration
        self.session = session
        self.lease = session.node.map { HousekeepingLease(node: $0.name) }
        self.reachability = reachability
        (self.reporting, self.polling) = reporting
        self.clock = clock
        self.report = report
        self.housekeeping = Housekeeping(configuration.housekeeping)
        self.heartbeat = queue.now
        self.keptHouse = queue.now
        self.measured = queue.now - Self.measuredNanoseconds
    }

    // MARK: Asking

    var statistics: EngineStatistics {
        var statistics = self.counted.withLock { $0 }
        statistics.requestsRefused = self.queue.refusals
        // PostgreSQL has no reserve. One missing byte makes alerts and plots show a full disk.
        if self.room.isFull { statistics.reserveMissingBytes = 1 }
        return statistics
    }

    func report(to observer: any CommitObserver) { self.reporting.setObserver(observer) }

    // MARK: The thread

    /// Works until the queue is closed and empty.
    func run() {
        // While there are no jobs; `nil` if no work is known of.
        var untilHousekeeping: Int64? = 0
        while let batch = self.queue.takeBatch(
            waitMillisecondsMax: untilHousekeeping ?? self.waitMilliseconds
        ) {
            self.measureIfDue()
            self.lookForRoomIfDue()
            self.sendHeartbeatIfDue()
            if batch.isEmpty {
                untilHousekeeping = self.workAlone(after: untilHousekeeping)
                continue
            }
            untilHousekeeping = 0
            if let administration = batch.administration {
                self.runAdministration(administration, of: batch)
            } else {
                self.runBatch(batch)
                self.keepHouseBetweenBatches()
            }
        }
        self.session.close(self.isLost ? nil : self.lease)
    }

    private var hasOthers: Bool { self.storeRow.nodesCount > (self.session.node == nil ? 0 : 1) }

    private var waitMilliseconds: Int64 {
        self.hasOthers && self.session.node != nil ? Self.waitBesideMilliseconds : Self.waitMillisecondsMax
    }

    /// Asks for the figures of a server's metrics from time to time: the size of the database, and the
    /// settings that an operator may have turned off.
    private func measureIfDue() {
        let now = self.queue.now
        guard self.session.node != nil, now >= self.measured + Self.measuredNanoseconds else { return }
        self.measured = now
        guard let connection = try? self.connected().connection,
            let size = try? connection.query(Self.size),
            let off = try? connection.query(DurabilitySettings.sql)
        else { return }
        let (bytes, unsafeSettings) = (size.integer(0, 0), off.count)
        self.counted.withLock {
            $0.databaseBytes = bytes
            $0.unsafeSettings = unsafeSettings
        }
    }

    private static let size = SQL("SELECT pg_database_size(current_database())", reach: .store)
    private static let measuredNanoseconds: Int64 = 60_000_000_000

    private func lookForRoomIfDue() {
        let now = self.queue.now
        guard self.room.isDue(now: now), let connection = try? self.connected().connection,
            self.room.findsRoom(on: connection, now: now)
        else { return }
        self.report(.diskHasRoom)
    }

    /// Notes that the disk has no room, if that is the error.
    func noteWantOfRoom(_ error: any Error) -> Bool {
        guard (error as? StorageFailure)?.isForWantOfRoom == true else { return false }
        if self.room.refused(now: self.queue.now) { self.report(.diskFull) }
        return true
    }

    private func sendHeartbeatIfDue() {
        let now = self.queue.now
        guard now >= self.heartbeat + NodeRegistration.heartbeatMilliseconds * 1_000_000 else { return }
        self.heartbeat = now
        do throws(StorageFailure) {
            try self.session.sendHeartbeat()
            if self.session.node != nil { self.reachability.worked(.writes) }
        } catch {
            self.reachability.failed(.writes)
        }
    }

    // MARK: Transactions

    private func connected() throws(StorageFailure) -> WriterSession.Open {
        try self.session.connected { self.forget() }
    }

    private func forget() { self.knowledge = WriterKnowledge() }

    /// A plan that locks some databases, or the whole store.
    func plan(_ databases: Set<DatabaseID> = []) -> TransactionPlan {
        var plan = TransactionPlan(node: self.session.node, reach: .databases, databases: databases)
        plan.usesDatabaseClock = self.configuration.usesDatabaseClock
        return plan
    }

    /// Executes work in a transaction and commits it.
    ///
    /// - Throws: What the work throws, or `StorageFailure`. Nothing was committed, unless the failure is
    ///   `outcomeUnknown`. With `need` set the same work may succeed with another plan.
    func transaction<Value>(
        _ plan: TransactionPlan,
        _ work: (PostgreSQLTransaction) throws -> Value
    ) throws -> Value {
        self.need = nil
        guard !self.isLost else { throw StorageFailure.unavailable(code: 0) }
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
        let transaction = PostgreSQLTransaction(
            session.connection,
            tables: session.tables,
            plan: plan,
            start
        )
        do {
            try transaction.begin()
            self.storeRow = transaction.storeRow
            self.polling.note(hasOthers: self.hasOthers)
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

    private func commit(_ transaction: PostgreSQLTransaction) throws(StorageFailure) {
        let start = self.queue.now
        if !self.isLost, !self.configuration.mayCommit() { self.isLost = true }
        guard !self.isLost else { throw .unavailable(code: 0) }
        if let witness = self.session.witness, witness.refusesCommits {
            throw .unavailable(code: SQLState.standbyMissing.number)
        }
        guard try transaction.commit() else { return }
        let end = self.queue.now
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

    /// Takes everything back, and notes what the next attempt needs.
    private func failed(_ transaction: PostgreSQLTransaction, _ error: any Error) {
        self.need = transaction.need
        if self.need != nil, transaction.plan.reach == .databases {
            // All rows that were read are committed. Rules may have remembered what they could not write.
            self.knowledge = transaction.knowledge
            self.knowledge.memory = RuleMemory()
        } else {
            self.forget()
        }
        _ = self.housekeeping.takeEvents()
        switch error as? StorageFailure {
        // Nobody knows whether numbers were used, or reserved.
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
        // Statements that wait in the pipeline fail first.
        _ = try? connection.receive()
        _ = try? connection.query(TransactionSQL.rollback)
        connection.names.forget()
        if self.need == .registration { try? self.session.registerAgain() }
    }

    /// Writes nothing any more: another version has changed the tables.
    private func noteOtherFormat(_ row: StoreRow) {
        self.isLost = true
        self.configuration.notice(.otherFormat(Int(row.format)))
    }

    // MARK: The store's own work

    private func runAdministration(
        _ administration: WaitingWrites.Administration,
        of batch: WaitingWrites.Batch
    ) {
        let start = self.queue.now
        let result = Result {
            try self.repeated(self.plan()) { try administration.work($0) }
        }
        self.knowledge.mayHave = Set(HousekeepingKind.allCases)
        self.queue.executed(batch, since: start)
        switch result {
        case .success: administration.reply(nil)
        case .failure(let error):
            _ = self.noteWantOfRoom(error)
            administration.reply(error)
        }
    }

    /// Begins work again that another transaction, or a connection that was lost, kept from being
    /// committed.
    private func repeated(
        _ plan: TransactionPlan,
        _ work: (PostgreSQLTransaction) throws -> Void
    ) throws {
        var plan = plan
        for _ in 1..<Self.attemptsMax {
            do {
                return try self.transaction(plan, work)
            } catch StorageFailure.conflict {
                if let need { plan.meet(need) }
                plan.node = self.session.node
            }
        }
        try self.transaction(plan, work)
    }

    // MARK: Housekeeping

    /// Whether nobody else keeps house, as far as the last transaction saw.
    private var mayKeepHouse: Bool {
        guard let lease else {
            return self.storeRow.node.isEmpty
                || self.storeRow.untilMilliseconds <= self.storeRow.nowMilliseconds
        }
        return lease.isHeld(in: self.storeRow) || lease.mayBeTaken(in: self.storeRow)
    }

    /// The time by which housekeeping is due: that of the rows, whatever the clock of this server says.
    private var housekeepingTime: Int64 {
        self.clock() + (self.configuration.usesDatabaseClock ? self.databaseLead : 0)
    }

    /// Does more housekeeping while nobody waits, and renews the lease.
    ///
    /// - Parameter waited: The milliseconds that the call before asked for; `nil` if it knew of no work.
    /// - Returns: How many milliseconds to wait before the next call; `nil` if no work is known of.
    private func workAlone(after waited: Int64?) -> Int64? {
        guard !self.isLost else { return nil }
        do {
            let now = self.housekeepingTime
            if waited == nil { try self.lookAtOthers() }
            guard self.mayKeepHouse else { return try self.followSharedZones() }
            // After such a wait there is nothing to ask.
            if waited ?? 0 == 0 {
                let wait = try self.milliseconds(untilStepFrom: now)
                guard wait == 0 else { return wait }
            }
            try self.keepHouse(isAlone: true)
            guard self.mayKeepHouse else { return nil }
            return try self.milliseconds(untilStepFrom: now)
        } catch {
            switch error as? StorageFailure ?? .unexpected(code: 0) {
            case .unavailable where self.noteWantOfRoom(error): break
            case .unavailable(let code):
                self.reachability.failed(.writes)
                self.configuration.notice(.answersNothing(code: code))
            case .unexpected(let code): self.report(.housekeepingFailed(code: code))
            case .conflict, .outcomeUnknown, .exceeds: break
            }
            return nil
        }
    }

    /// Does a step in a transaction of its own, if the lease is this server's.
    private func keepHouse(isAlone: Bool) throws {
        try self.transaction(self.plan()) { transaction in
            guard transaction.mayKeepHouse else { return }
            try self.housekeeping.step(
                isAlone: isAlone,
                onFullDisk: false,
                in: PostgreSQLHousekeeping(transaction)
            )
        }
    }

    /// Brings shared databases up to date that have to follow a change of this server.
    ///
    /// - Returns: How many milliseconds to wait before the next call; `nil` if no work is known of.
    private func followSharedZones() throws -> Int64? {
        guard self.leavesViews, self.session.node != nil else { return nil }
        let wait = self.housekeeping.milliseconds(untilFollowingFrom: self.clock())
        guard wait == 0 else { return wait }
        try self.transaction(self.plan()) { transaction in
            transaction.leavesViews = try self.housekeeping.followSharedZones(
                isAlone: true,
                in: transaction
            )
        }
        return self.leavesViews ? self.housekeeping.milliseconds(untilFollowingFrom: self.clock()) : nil
    }

    /// Does a step while requests wait, which lock databases alone and so leave it no room.
    private func keepHouseBetweenBatches() {
        guard self.session.node != nil else { return }
        guard self.mayKeepHouse else {
            // A failed step is tried again.
            _ = try? self.followSharedZones()
            return
        }
        self.batchesSinceHousekeeping += 1
        let isDue =
            self.batchesSinceHousekeeping >= Self.batchesBetweenHousekeeping
            || (self.queue.now - self.keptHouse >= Self.housekeepingPauseNanoseconds
                && (try? self.milliseconds(untilStepFrom: self.housekeepingTime)) == 0)
        guard isDue else { return }
        do {
            try self.keepHouse(isAlone: false)
        } catch {
            if case .unexpected(let code)? = error as? StorageFailure {
                self.report(.housekeepingFailed(code: code))
            }
        }
        self.keptHouse = self.queue.now
        self.batchesSinceHousekeeping = 0
    }

    /// Finds out what another process has written, takes the lease if it is free, and renews it.
    private func lookAtOthers() throws {
        self.storeRow = StoreRow(try self.connected().connection.rows(StoreRow.read))
        guard self.storeRow.format == StoreTables.format else { return self.noteOtherFormat(self.storeRow) }
        self.polling.note(hasOthers: self.hasOthers)
        if self.storeRow.generation != self.knowledge.generation {
            self.knowledge = WriterKnowledge(generation: self.storeRow.generation)
        }
        guard let lease else { return }
        let isHeld = lease.isHeld(in: self.storeRow)
        guard isHeld ? lease.isRenewalDue(in: self.storeRow) : lease.mayBeTaken(in: self.storeRow) else {
            return
        }
        try self.transaction(self.plan()) { transaction in
            guard transaction.mayKeepHouse, let node = self.session.node else { return }
            let removed = try transaction.connection.rows(
                NodeRegistration.removeSilent,
                [.integer(NodeRegistration.silenceMilliseconds), .integer(node.number)]
            )
            if removed.changesCount > 0 { transaction.isChanged = true }
        }
        self.storeRow = StoreRow(try self.connected().connection.rows(StoreRow.read))
    }

    private func milliseconds(untilStepFrom now: Int64) throws(StorageFailure) -> Int64? {
        let session = try self.connected()
        // It is asked for what the writer knows, and never begins.
        let transaction = PostgreSQLTransaction(
            session.connection,
            tables: session.tables,
            plan: self.plan(),
            PostgreSQLTransaction.Start(knowledge: self.knowledge, nowMilliseconds: now)
        )
        return self.housekeeping.milliseconds(
            untilStepFrom: now,
            onFullDisk: false,
            in: PostgreSQLHousekeeping(transaction)
        )
    }
}
