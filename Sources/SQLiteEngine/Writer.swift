import Foundation
import GRDB
import RecordModel
import RecordStore
import Synchronization

/// The one thread that writes.
///
/// It takes everything that waits, executes it in one transaction, and replies when the transaction is on
/// disk.
///
/// A request that fails half-way for a reason of ours takes back the transaction, which is then executed again with each
/// request in a savepoint, so that this one is taken back alone. A disk that is full or fails takes back all.
///
/// SAFETY: `transaction` and `database` are made and used on the writer's thread only; the rest is immutable or locked.
final class Writer: @unchecked Sendable {
    private let queue: WriteQueue
    private let rules: WriteRules
    private let configuration: SQLiteEngineConfiguration
    private let clock: @Sendable () -> Int64
    private let report: @Sendable (EngineEvent) -> Void
    private let statistics = Mutex(EngineStatistics())

    /// What a client whose request could not be written should wait.
    private static let unavailableRetryMilliseconds: UInt32 = 1_000

    init(
        queue: WriteQueue,
        rules: WriteRules,
        configuration: SQLiteEngineConfiguration,
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.queue = queue
        self.rules = rules
        self.configuration = configuration
        self.clock = clock
        self.report = report
    }

    var counted: EngineStatistics { self.statistics.withLock { $0 } }

    func countRefusal() { self.statistics.withLock { $0.requestsRefused += 1 } }

    /// Works until the queue is closed and empty.
    func run(_ transaction: WriterTransaction, _ housekeeping: Housekeeping, _ database: Database) {
        var idleIsUseful = true
        while let jobs = self.queue.takeBatch(
            recordsMax: self.configuration.commitRecordsMax,
            bytesMax: self.configuration.commitBytesMax,
            waits: !idleIsUseful
        ) {
            if jobs.isEmpty {
                idleIsUseful = self.workAlone(housekeeping, transaction, hasWaited: !idleIsUseful)
                continue
            }
            idleIsUseful = true
            if case .administration(let administration) = jobs[0] {
                let error = self.execute(administration, transaction, database)
                self.tell(transaction)
                administration.reply(error)
            } else {
                self.execute(jobs, transaction, housekeeping)
            }
        }
        while !transaction.watch.cursors.isEmpty, self.writeCursors(housekeeping, transaction) {}
    }

    private typealias Answer = (write: WriteQueue.PendingWrite, result: Result<[WriteOutcome], StoreError>)

    private func execute(
        _ jobs: [WriteQueue.Job],
        _ transaction: WriterTransaction,
        _ housekeeping: Housekeeping
    ) {
        let now = self.clock()
        var answers: [Answer] = []
        var writes: [WriteQueue.PendingWrite] = []
        for case .request(let write) in jobs {
            if write.request.deadlineMilliseconds < now {
                answers.append((write, .failure(.deadlinePassed)))
            } else {
                writes.append(write)
            }
        }
        do {
            answers += try self.commit(writes, nowMilliseconds: now, transaction, housekeeping)
        } catch {
            transaction.rollback()
            self.report(.storageUnavailable(sqliteCode: error.code))
            let refusal = StoreError.storageUnavailable(
                retryAfterMilliseconds: Self.unavailableRetryMilliseconds
            )
            answers += writes.map { ($0, .failure(refusal)) }
        }
        self.tell(transaction)
        for answer in answers { answer.write.reply(answer.result) }
    }

    /// Tells those who watch what the last transaction changed.
    private func tell(_ transaction: WriterTransaction) {
        if let changes = transaction.takeCommitted() { transaction.watch.report(changes) }
    }

    /// - Throws: When nothing of the transaction can be written.
    private func commit(
        _ writes: [WriteQueue.PendingWrite],
        nowMilliseconds now: Int64,
        _ transaction: WriterTransaction,
        _ housekeeping: Housekeeping
    ) throws(StorageFailure) -> [Answer] {
        do throws(StorageFailure) {
            // SQLite copies each page that a savepoint touches: all pay for it only when one is needed.
            return try self.commit(
                writes,
                inSavepoints: false,
                nowMilliseconds: now,
                transaction,
                housekeeping
            )
        } catch {
            guard case .unexpected = error else { throw error }
            transaction.rollback()
            return try self.commit(
                writes,
                inSavepoints: true,
                nowMilliseconds: now,
                transaction,
                housekeeping
            )
        }
    }

    private func commit(
        _ writes: [WriteQueue.PendingWrite],
        inSavepoints: Bool,
        nowMilliseconds now: Int64,
        _ transaction: WriterTransaction,
        _ housekeeping: Housekeeping
    ) throws(StorageFailure) -> [Answer] {
        guard !writes.isEmpty else { return [] }
        var answers: [Answer] = []
        answers.reserveCapacity(writes.count)
        var counted = EngineStatistics()
        try transaction.begin(nowMilliseconds: now)
        for write in writes {
            transaction.report.origin = write.request.origin
            let execution =
                inSavepoints
                ? try self.executeInSavepoint(write.request, transaction)
                : try self.rules.execute(write.request, in: transaction)
            Self.count(execution, in: &counted)
            answers.append((write, execution.result))
        }
        do throws(StorageFailure) {
            try transaction.isolated { () throws(StorageFailure) in
                try housekeeping.sweep()
                try housekeeping.workOnIndexes(isAlone: false)
                try housekeeping.staleChanges.remove(isIdle: false)
                try housekeeping.oldTombstones.remove(nowMilliseconds: now)
                try housekeeping.writeCursors(isAlone: false)
                try housekeeping.forgetRequests(
                    olderThanMilliseconds: self.rules.oldestRequestMilliseconds(now: now)
                )
            }
        } catch {
            // It must not stand in the way of requests; what did not fit now is tried again.
            self.report(.housekeepingFailed(sqliteCode: error.code))
        }
        try transaction.commit()
        for event in housekeeping.takeEvents() { self.report(event) }
        counted.commits = 1
        self.statistics.withLock { $0.add(counted) }
        return answers
    }

    /// A fault of ours takes back this request and leaves its neighbours alone.
    ///
    /// - Throws: When nothing can be written now, whatever the request.
    private func executeInSavepoint(
        _ request: WriteRequest,
        _ transaction: WriterTransaction
    ) throws(StorageFailure) -> WriteRules.Execution {
        do throws(StorageFailure) {
            return try transaction.isolated { () throws(StorageFailure) in
                try self.rules.execute(request, in: transaction)
            }
        } catch {
            guard case .unexpected(let code) = error else { throw error }
            self.report(.requestFaulted(sqliteCode: code))
            return WriteRules.Execution(result: .failure(.internalFault), isReplay: false)
        }
    }

    private static func count(_ execution: WriteRules.Execution, in counted: inout EngineStatistics) {
        if execution.isReplay { counted.requestsReplayed += 1 }
        switch execution.result {
        case .success(let outcomes):
            counted.requestsCommitted += 1
            guard !execution.isReplay else { return }
            for outcome in outcomes {
                switch outcome {
                case .recordSaved, .deleted: counted.recordsWritten += 1
                case .zoneSaved, .subscriptionSaved, .failed: continue
                }
            }
        case .failure: counted.requestsRefused += 1
        }
    }

    private func execute(
        _ administration: WriteQueue.Administration,
        _ transaction: WriterTransaction,
        _ database: Database
    ) -> (any Error)? {
        do {
            try transaction.begin(nowMilliseconds: self.clock())
            try administration.work(transaction, database)
            try transaction.commit()
            transaction.mayHaveIndexWork = true
            return nil
        } catch {
            transaction.rollback()
            return error
        }
    }

    /// Writes down what listeners acknowledged last.
    private func writeCursors(_ housekeeping: Housekeeping, _ transaction: WriterTransaction) -> Bool {
        do {
            try transaction.begin(nowMilliseconds: self.clock())
            try housekeeping.writeCursors(isAlone: true)
            try transaction.commit()
            return true
        } catch {
            transaction.rollback()
            self.report(.housekeepingFailed(sqliteCode: error.code))
            return false
        }
    }

    /// Sweeps, works on indexes and removes old tombstones, while nobody waits.
    ///
    /// After waiting there is work only if somebody else wrote, such as the command line, or time has passed. Returns whether there may be
    /// more to do.
    private func workAlone(
        _ housekeeping: Housekeeping,
        _ transaction: WriterTransaction,
        hasWaited: Bool
    ) -> Bool {
        let now = self.clock()
        do {
            let isWanted =
                try hasWaited
                ? housekeeping.isWantedAfterWaiting(nowMilliseconds: now)
                : housekeeping.isWanted(nowMilliseconds: now)
            guard isWanted else { return false }
            try transaction.begin(nowMilliseconds: now)
            try housekeeping.sweep()
            try housekeeping.workOnIndexes(isAlone: true)
            try housekeeping.staleChanges.remove(isIdle: true)
            try housekeeping.oldTombstones.remove(nowMilliseconds: now)
            try housekeeping.writeCursors(isAlone: true)
            try transaction.commit()
            self.tell(transaction)
            for event in housekeeping.takeEvents() { self.report(event) }
            return housekeeping.isWanted(nowMilliseconds: now)
        } catch {
            transaction.rollback()
            self.report(.housekeepingFailed(sqliteCode: error.code))
            return false
        }
    }
}

extension EngineStatistics {
    fileprivate mutating func add(_ other: EngineStatistics) {
        self.commits += other.commits
        self.requestsCommitted += other.requestsCommitted
        self.recordsWritten += other.recordsWritten
        self.requestsReplayed += other.requestsReplayed
        self.requestsRefused += other.requestsRefused
    }
}
