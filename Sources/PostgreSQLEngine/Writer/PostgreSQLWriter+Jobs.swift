import EngineThreads
import RecordStore
import Synchronization

/// Jobs: what they come to, and housekeeping beside them.
extension PostgreSQLWriter {
    func runBatch(_ batch: WaitingWrites.Batch) {
        var execution = BatchExecution(batch, of: self.queue, nowMilliseconds: self.clock())
        guard !execution.jobs.isEmpty else { return execution.failed(.deadlinePassed) }
        do {
            try self.commitTogether(&execution)
            self.counted.withLock { $0.commits += 1 }
            for end in execution.committed() { end.reply() }
        } catch {
            let failure = error as? StorageFailure ?? .unexpected(code: 0)
            if self.noteWantOfRoom(failure) {
                self.report(.changesRefused(execution.jobs.count))
            } else if case .unavailable(let code) = failure {
                self.reachability.failed(.writes)
                for _ in execution.jobs { self.report(.storageUnavailable(code: code)) }
            }
            // Deletes are refused as well, so nobody but the operator can make room.
            execution.failed(.storage(failure))
        }
    }

    /// Executes jobs in one transaction, which begins anew with more rows locked if that turns out to
    /// be needed.
    private func commitTogether(_ execution: inout BatchExecution) throws {
        var plan = self.plan(Set(execution.jobs.compactMap(\.requester?.database)))
        plan.prefetches = execution.jobs.compactMap(\.prefetch)
        for _ in 0..<Self.attemptsMax {
            do {
                return try self.transaction(plan) { transaction in
                    try execution.run(in: transaction, report: self.report)
                    try self.keepHouse(in: transaction)
                }
            } catch {
                if let need {
                    plan.meet(need)
                    plan.node = self.session.node
                    continue
                }
                let failure = error as? StorageFailure ?? .unexpected(code: 0)
                // A commit that was sent may have happened.
                guard failure != .outcomeUnknown, execution.isolates(after: failure) else { throw error }
            }
        }
        throw StorageFailure.conflict
    }

    /// Does some housekeeping beside requests, and takes it back alone if it fails.
    private func keepHouse(in transaction: PostgreSQLTransaction) throws(StorageFailure) {
        guard transaction.mayKeepHouse else { return try self.followSharedZones(in: transaction) }
        let rows = PostgreSQLHousekeeping(transaction)
        let wait = self.housekeeping.milliseconds(
            untilStepFrom: transaction.nowMilliseconds,
            onFullDisk: false,
            in: rows
        )
        guard wait != nil else { return }
        try self.aside(in: transaction) { () throws(StorageFailure) in
            try self.housekeeping.step(isAlone: false, onFullDisk: false, in: rows)
        }
    }

    /// Brings shared databases up to date after a change of a shared zone, while another server keeps
    /// house: it would find the entries later, and could not report who made the change.
    private func followSharedZones(in transaction: PostgreSQLTransaction) throws(StorageFailure) {
        guard transaction.plan.node != nil, transaction.leavesViews == true else { return }
        try self.aside(in: transaction) { () throws(StorageFailure) in
            transaction.leavesViews = try self.housekeeping.followSharedZones(
                isAlone: false,
                in: transaction
            )
        }
    }

    /// Works for no request, and takes that back alone if it fails.
    private func aside(
        in transaction: PostgreSQLTransaction,
        _ work: () throws(StorageFailure) -> Void
    ) throws(StorageFailure) {
        let savepoint = try transaction.setSavepoint()
        do throws(StorageFailure) {
            transaction.origin = nil
            try work()
            try transaction.release()
        } catch {
            try transaction.takeBack(to: savepoint)
            _ = self.housekeeping.takeEvents()
            if case .unexpected(let code) = error { self.report(.housekeepingFailed(code: code)) }
        }
    }
}
