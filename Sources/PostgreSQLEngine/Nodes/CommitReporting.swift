import EngineThreads
import StorageContract

/// The reports of commits to the observer: those of this writer, and those of other servers.
///
/// Other servers' changes are not reported between a commit of the writer and its report. So a
/// position in the row of a database has been reported if the commit was this server's. The polling
/// thread reads other servers' changes up to an unreported position (`ChangesOfOthers`), and so
/// does the writer after locking.
///
/// SAFETY: the variables are read and written only while the condition is locked.
final class CommitReporting: @unchecked Sendable {
    private let condition = ThreadCondition()
    private var observer: (any CommitObserver)?
    /// The last positions of watched databases that were reported, or given to a new listener.
    private var positions: [DatabaseID: Int64] = [:]
    /// Whether the writer is committing and has not reported it yet.
    private var isCommitting = false

    /// How long a report of others' changes waits for a commit before it is left to the next poll.
    private static let waitNanoseconds: Int64 = 1_000_000_000

    func setObserver(_ observer: any CommitObserver) {
        self.condition.withLock { self.observer = observer }
    }

    /// The databases that have listeners, and their known positions.
    var state: (watched: [DatabaseID: EnvironmentID], positions: [DatabaseID: Int64]) {
        self.condition.withLock { (self.observer?.watched ?? [:], self.positions) }
    }

    /// Watched databases with known positions, which others may have changed.
    var followed: [DatabaseID] {
        let state = self.state
        return state.positions.keys.filter { state.watched[$0] != nil }
    }

    /// Commits a transaction, and reports its changes after those of others before it.
    func commit(
        _ transaction: PostgreSQLTransaction,
        _ commit: () throws(StorageFailure) -> Void
    ) throws {
        self.condition.withLock { self.isCommitting = true }
        let result = Result { try commit() }
        try self.condition.withLock {
            self.isCommitting = false
            self.condition.broadcast()
            try result.get()
            let now = transaction.nowMilliseconds
            for changes in transaction.changesOfOthers.all {
                self.report(
                    changes,
                    behind: self.positions[changes.stretch.database] ?? changes.stretch.after,
                    nowMilliseconds: now
                )
            }
            self.positions.merge(transaction.watchedPositions) { max($0, $1) }
            self.positions = self.positions.filter { transaction.isWatched($0.key) }
            let report = transaction.report.committed(atMilliseconds: now)
            if let report { self.observer?.committed(report) }
        }
    }

    /// The databases that have advanced beyond the reported position.
    ///
    /// Other servers have changed them: a commit of this server is reported by the time its row can
    /// be read.
    func unreported(
        _ found: [(database: DatabaseID, position: Int64)]
    ) -> [ChangesOfOthers.Stretch] {
        self.condition.withLock {
            guard self.waitForCommit() else { return [] }
            let watched = self.observer?.watched ?? [:]
            return found.compactMap { database, position in
                guard let known = self.positions[database], position > known,
                    let environment = watched[database]
                else { return nil }
                return ChangesOfOthers.Stretch(database: database, environment: environment, after: known)
            }
        }
    }

    /// Reports others' changes unless another report was made since they were read.
    ///
    /// In that case this server has written after them, and has reported everything before.
    func found(_ found: [ChangesOfOthers], nowMilliseconds now: Int64) {
        self.condition.withLock {
            guard self.waitForCommit() else { return }
            for changes in found {
                let stretch = changes.stretch
                guard self.positions[stretch.database] == stretch.after else { continue }
                self.report(changes, behind: stretch.after, nowMilliseconds: now)
                self.positions[stretch.database] = changes.position
            }
        }
    }

    private func report(
        _ changes: ChangesOfOthers,
        behind known: Int64,
        nowMilliseconds now: Int64
    ) {
        guard changes.position > known else { return }
        for report in changes.reports(behind: known, nowMilliseconds: now) {
            self.observer?.committed(report)
        }
    }

    /// Waits until the writer is not committing; `false` after a timeout.
    private func waitForCommit() -> Bool {
        let end = MonotonicTime.nanoseconds() + Self.waitNanoseconds
        while self.isCommitting { guard self.condition.wait(until: end) else { return false } }
        return true
    }
}
