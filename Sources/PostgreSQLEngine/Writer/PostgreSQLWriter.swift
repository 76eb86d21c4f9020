import EngineThreads
import Foundation
import RecordStore
import Synchronization

/// The one thread that writes: it executes what waits, one transaction after the other.
///
/// A job that fails for a reason of ours takes back the transaction. That is then executed again with each
/// job in a savepoint, so that this job is taken back alone. Without a connection nothing is executed, and
/// every job fails until there is one again.
///
/// SAFETY: what is below `observer` is used on the writer's thread only; the rest is immutable or locked.
final class PostgreSQLWriter: @unchecked Sendable {
    private let queue: WriteQueue
    private let configuration: PostgreSQLEngineConfiguration
    private let lease: StoreLease?
    private let clock: @Sendable () -> Int64
    private let report: @Sendable (EngineEvent) -> Void
    private let counted = Mutex(EngineStatistics())
    private let observer = Mutex<(any CommitObserver)?>(nil)

    private let housekeeping: Housekeeping
    private var session: Session?
    private var knowledge = WriterKnowledge()
    private var watchedPositions: [DatabaseID: Int64] = [:]
    /// When the lease was renewed last, by the clock that only goes forward.
    private var renewed: Int64
    /// When the database's size was asked for last.
    private var measured: Int64
    /// Whether another server has the store: then nothing is written any more.
    private var isLost = false

    /// A connection with its statements.
    private struct Session {
        let connection: PostgreSQLConnection
        let tables: TableStatements
    }

    /// How long the thread waits before it looks for what others have written.
    private static let waitMillisecondsMax: Int64 = 1_000
    /// So often work of the store itself is begun again when it could not be committed.
    private static let attemptsMax = 8

    init(
        queue: WriteQueue,
        configuration: PostgreSQLEngineConfiguration,
        lease: StoreLease?,
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.queue = queue
        self.configuration = configuration
        self.lease = lease
        self.clock = clock
        self.report = report
        self.housekeeping = Housekeeping(configuration.housekeeping)
        self.renewed = queue.now
        self.measured = queue.now - Self.measuredNanoseconds
    }

    // MARK: Asking

    var statistics: EngineStatistics { self.counted.withLock { $0 } }

    func countRefusal() { self.counted.withLock { $0.requestsRefused += 1 } }

    func report(to observer: any CommitObserver) { self.observer.withLock { $0 = observer } }

    // MARK: The thread

    /// Works until the queue is closed and empty.
    func run() {
        // While there are no jobs; `nil` if no work is known of.
        var untilHousekeeping: Int64? = 0
        while let batch = self.queue.takeBatch(
            recordsMax: self.configuration.commitRecordsMax,
            bytesMax: self.configuration.commitBytesMax,
            waitMillisecondsMax: untilHousekeeping ?? Self.waitMillisecondsMax
        ) {
            self.measureIfDue()
            if batch.isEmpty {
                untilHousekeeping = self.workAlone(after: untilHousekeeping)
                continue
            }
            untilHousekeeping = 0
            if let administration = batch.administration {
                self.execute(administration, of: batch)
            } else {
                self.execute(batch)
            }
        }
        self.giveBackLease()
        self.session = nil
    }

    /// Asks a server's metrics' figure from time to time: how large the database is.
    private func measureIfDue() {
        let now = self.queue.now
        guard self.lease != nil, now >= self.measured + Self.measuredNanoseconds else { return }
        self.measured = now
        guard let connection = try? self.connected().connection,
            let rows = try? connection.query(Self.size)
        else { return }
        let bytes = rows.integer(0, 0)
        self.counted.withLock { $0.databaseBytes = bytes }
    }

    private static let size = SQL("SELECT pg_database_size(current_database())", reach: .store)
    private static let measuredNanoseconds: Int64 = 60_000_000_000

    private func giveBackLease() {
        guard let lease, !self.isLost, let session, !session.connection.isLost else { return }
        // If that fails, the lease ends by itself.
        try? lease.giveBack(on: session.connection)
    }

    // MARK: Transactions

    private func connected() throws(StorageFailure) -> Session {
        if let session, !session.connection.isLost { return session }
        self.forget()
        self.session = nil
        do throws(PostgreSQLError) {
            let connection = try PostgreSQLConnection(self.configuration.target)
            let made = Session(connection: connection, tables: TableStatements(connection))
            self.session = made
            return made
        } catch {
            throw .unavailable(code: error.state?.number ?? 0)
        }
    }

    private func forget() { self.knowledge = WriterKnowledge() }

    /// Executes work in a transaction and commits it.
    ///
    /// - Throws: What the work throws, or `StorageFailure`. Nothing was committed, unless the failure is
    ///   `outcomeUnknown`.
    private func transaction<Value>(
        databases: Set<DatabaseID> = [],
        _ work: (PostgreSQLTransaction) throws -> Value
    ) throws -> Value {
        guard !self.isLost else { throw StorageFailure.unavailable(code: 0) }
        let session = try self.connected()
        if self.knowledge.isLarge { self.forget() }
        let observer = self.observer.withLock { $0 }
        let transaction = PostgreSQLTransaction(
            session.connection,
            tables: session.tables,
            knowledge: self.knowledge,
            watched: observer?.watched ?? [:],
            watchedPositions: self.watchedPositions,
            nowMilliseconds: self.clock()
        )
        do {
            let row = try transaction.begin(databases: databases)
            if let lease, !lease.isHeld(by: row) { throw self.lost() }
            let value = try work(transaction)
            try self.commit(transaction)
            self.committed(transaction, observer)
            return value
        } catch {
            self.rollback(session.connection)
            throw error
        }
    }

    private func commit(_ transaction: PostgreSQLTransaction) throws(StorageFailure) {
        let start = self.queue.now
        if !self.isLost, !self.configuration.mayCommit() { self.isLost = true }
        guard !self.isLost else { throw .unavailable(code: 0) }
        guard try transaction.commit(lease: self.lease) else { return }
        let end = self.queue.now
        self.renewed = end
        self.counted.withLock { $0.logSyncs.add(nanoseconds: end - start) }
    }

    private func lost() -> StorageFailure {
        self.isLost = true
        self.report(.logLost(systemError: 0))
        return .unavailable(code: 0)
    }

    private func rollback(_ connection: PostgreSQLConnection) {
        self.forget()
        // Statements that wait in the pipeline fail first.
        _ = try? connection.receive()
        _ = try? connection.query(TransactionSQL.rollback)
    }

    private func committed(_ transaction: PostgreSQLTransaction, _ observer: (any CommitObserver)?) {
        self.knowledge = transaction.knowledge
        self.watchedPositions = transaction.watchedPositions.filter { transaction.isWatched($0.key) }
        let report = transaction.report.committed(atMilliseconds: transaction.nowMilliseconds)
        if let report { observer?.committed(report) }
        for event in self.housekeeping.takeEvents() { self.report(event) }
    }

    // MARK: The store's own work

    private func execute(
        _ administration: WaitingWrites.Administration,
        of batch: WaitingWrites.Batch
    ) {
        let start = self.queue.now
        let result = Result {
            try self.repeated { try self.transaction { try administration.work($0) } }
        }
        self.knowledge.mayHave = Set(HousekeepingKind.allCases)
        self.queue.executed(batch, since: start)
        switch result {
        case .success: administration.reply(nil)
        case .failure(let error): administration.reply(error)
        }
    }

    /// Begins work again that another transaction, or a connection that was lost, kept from being
    /// committed.
    private func repeated(_ work: () throws -> Void) throws {
        for _ in 1..<Self.attemptsMax {
            do {
                return try work()
            } catch StorageFailure.conflict {
                continue
            }
        }
        try work()
    }

    /// Does more housekeeping while nobody waits, and renews the lease.
    ///
    /// - Parameter waited: The milliseconds that the call before asked for; `nil` if it knew of no work.
    /// - Returns: How many milliseconds to wait before the next call; `nil` if no work is known of.
    private func workAlone(after waited: Int64?) -> Int64? {
        guard !self.isLost else { return nil }
        do {
            let now = self.clock()
            if waited == nil { try self.lookAtOthers() }
            // After such a wait there is nothing to ask.
            if waited ?? 0 == 0 {
                let wait = try self.milliseconds(untilStepFrom: now)
                guard wait == 0 else { return wait }
            }
            try self.transaction { transaction in
                try self.housekeeping.step(
                    isAlone: true,
                    onFullDisk: false,
                    in: PostgreSQLHousekeeping(transaction)
                )
            }
            return try self.milliseconds(untilStepFrom: now)
        } catch {
            _ = self.housekeeping.takeEvents()
            switch error as? StorageFailure ?? .unexpected(code: 0) {
            case .unavailable(let code), .unexpected(let code): self.report(.housekeepingFailed(code: code))
            case .conflict, .outcomeUnknown: break
            }
            return nil
        }
    }

    /// Finds out whether another process has written, and renews the lease if it is time.
    private func lookAtOthers() throws {
        let row = StoreRow(try self.connected().connection.rows(StoreRow.read))
        let isNews = row.generation != self.knowledge.generation
        if isNews { self.knowledge.mayHave = Set(HousekeepingKind.allCases) }
        let isRenewalDue =
            self.lease != nil
            && self.queue.now - self.renewed > StoreLease.renewalMilliseconds * 1_000_000
        if isNews || isRenewalDue { try self.transaction { $0.isChanged = isRenewalDue } }
    }

    private func milliseconds(untilStepFrom now: Int64) throws(StorageFailure) -> Int64? {
        let session = try self.connected()
        // It is asked for what the writer knows, and never begins.
        let transaction = PostgreSQLTransaction(
            session.connection,
            tables: session.tables,
            knowledge: self.knowledge,
            watched: [:],
            watchedPositions: [:],
            nowMilliseconds: now
        )
        return self.housekeeping.milliseconds(
            untilStepFrom: now,
            onFullDisk: false,
            in: PostgreSQLHousekeeping(transaction)
        )
    }

    // MARK: Jobs

    /// The outcome of a batch.
    private struct Executed {
        var replies: [@Sendable () -> Void] = []
        var excesses: [WaitingWrites.Excess] = []
        var unfinished: (job: WriteJob, rest: WriteJob, work: Int)?
        /// How many jobs were looked at.
        var count = 0
    }

    private func execute(_ batch: WaitingWrites.Batch) {
        var batch = batch
        let start = self.queue.now
        let time = self.clock()
        let jobs = batch.jobs.filter { $0.deadlineMilliseconds >= time }
        for job in batch.jobs where job.deadlineMilliseconds < time { job.fail(.deadlinePassed) }
        guard !jobs.isEmpty else { return self.queue.executed(batch, since: start) }
        do {
            let executed = try self.commit(jobs)
            self.counted.withLock { $0.commits += 1 }
            self.queue.putBack(jobs[executed.count...], of: &batch)
            if let (job, rest, work) = executed.unfinished { self.queue.putBack(rest, of: job, work: work) }
            self.queue.executed(batch, since: start, excesses: executed.excesses)
            for reply in executed.replies { reply() }
        } catch {
            self.queue.executed(batch, since: start)
            let failure = error as? StorageFailure ?? .unexpected(code: 0)
            if case .unavailable(let code) = failure { self.report(.storageUnavailable(code: code)) }
            let reason = failure.isForWantOfRoom ? JobFailure.diskFull : .storage(failure)
            for job in jobs { job.fail(reason) }
        }
    }

    /// Executes jobs in one transaction: without savepoints, unless one of them fails.
    private func commit(_ jobs: [WriteJob]) throws -> Executed {
        let databases = Set(jobs.compactMap(\.requester?.database))
        do {
            return try self.transaction(databases: databases) { transaction in
                try self.execute(jobs, in: transaction, isolatesEach: false)
            }
        } catch StorageFailure.outcomeUnknown {
            throw StorageFailure.outcomeUnknown
        } catch StorageFailure.unavailable(let code) {
            throw StorageFailure.unavailable(code: code)
        } catch {
            return try self.transaction(databases: databases) { transaction in
                try self.execute(jobs, in: transaction, isolatesEach: true)
            }
        }
    }

    /// Executes jobs until one of them has something left.
    private func execute(
        _ jobs: [WriteJob],
        in transaction: PostgreSQLTransaction,
        isolatesEach: Bool
    ) throws -> Executed {
        var executed = Executed()
        for job in jobs where executed.unfinished == nil {
            executed.count += 1
            let before = transaction.workDone
            let progress =
                isolatesEach
                ? try self.isolated(job, in: transaction, &executed)
                : try Self.execute(job, in: transaction)
            let work = transaction.workDone - before
            switch progress {
            case .finished(let reply)?: executed.replies.append(reply)
            case .unfinished(let rest)?:
                executed.unfinished = (job, rest, work)
                continue
            case nil: break
            }
            if let excess = job.excess(of: work) { executed.excesses.append(excess) }
        }
        try self.keepHouse(in: transaction)
        return executed
    }

    private static func execute(
        _ job: WriteJob,
        in transaction: PostgreSQLTransaction
    ) throws(StorageFailure) -> WriteJob.Progress? {
        transaction.origin = job.origin
        return try job.execute(transaction)
    }

    /// Executes a job that is taken back alone if it fails; `nil` if it failed.
    private func isolated(
        _ job: WriteJob,
        in transaction: PostgreSQLTransaction,
        _ executed: inout Executed
    ) throws(StorageFailure) -> WriteJob.Progress? {
        let savepoint = try transaction.setSavepoint()
        do throws(StorageFailure) {
            let progress = try Self.execute(job, in: transaction)
            try transaction.release()
            return progress
        } catch {
            try transaction.takeBack(to: savepoint)
            if case .unexpected(let code) = error { self.report(.requestFaulted(code: code)) }
            executed.replies.append { job.fail(.storage(error)) }
            return nil
        }
    }

    /// Does some housekeeping beside requests, and takes it back alone if it fails.
    private func keepHouse(in transaction: PostgreSQLTransaction) throws(StorageFailure) {
        let rows = PostgreSQLHousekeeping(transaction)
        let wait = self.housekeeping.milliseconds(
            untilStepFrom: transaction.nowMilliseconds,
            onFullDisk: false,
            in: rows
        )
        guard wait != nil else { return }
        let savepoint = try transaction.setSavepoint()
        do throws(StorageFailure) {
            transaction.origin = nil
            try self.housekeeping.step(isAlone: false, onFullDisk: false, in: rows)
            try transaction.release()
        } catch {
            try transaction.takeBack(to: savepoint)
            _ = self.housekeeping.takeEvents()
            if case .unexpected(let code) = error { self.report(.housekeepingFailed(code: code)) }
        }
    }
}
