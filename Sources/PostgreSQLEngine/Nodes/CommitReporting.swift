import Foundation
import RecordStore

/// The reports to the observer of commits: those of this writer, with details, and positions up to which
/// others have changed databases.
///
/// Changes of others are not reported between a commit of the writer and its report. So a position that
/// is found in the row of a database has been reported, if the commit was this server's.
///
/// SAFETY: the variables are read and written only while the condition is locked.
final class CommitReporting: @unchecked Sendable {
    private let condition = NSCondition()
    private var observer: (any CommitObserver)?
    /// The last positions that were reported of watched databases, or given to a listener that began.
    private var positions: [DatabaseID: Int64] = [:]
    /// Whether the writer commits, and has not reported that.
    private var isCommitting = false

    /// How long a report of others waits for a commit before it is left to the next look.
    private static let waitSeconds = 1.0

    func setObserver(_ observer: any CommitObserver) {
        self.condition.withLock { self.observer = observer }
    }

    /// The databases that somebody listens in, and the positions that are known of them.
    var state: (watched: [DatabaseID: EnvironmentID], positions: [DatabaseID: Int64]) {
        self.condition.withLock { (self.observer?.watched ?? [:], self.positions) }
    }

    /// Watched databases whose positions are known: others may have changed them.
    var followed: [DatabaseID] {
        let state = self.state
        return state.positions.keys.filter { state.watched[$0] != nil }
    }

    /// Commits a transaction, and reports what it changed.
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
            for (database, position) in transaction.changesOfOthers
            where position > self.positions[database] ?? .min {
                transaction.report.noteMore(in: database, upTo: position)
            }
            self.positions.merge(transaction.watchedPositions) { max($0, $1) }
            self.positions = self.positions.filter { transaction.isWatched($0.key) }
            let report = transaction.report.committed(atMilliseconds: transaction.nowMilliseconds)
            if let report { self.observer?.committed(report) }
        }
    }

    /// Reports databases that are further than what was reported.
    func found(_ found: [(database: DatabaseID, position: Int64)], nowMilliseconds now: Int64) {
        self.condition.withLock {
            let end = Date(timeIntervalSinceNow: Self.waitSeconds)
            while self.isCommitting { guard self.condition.wait(until: end) else { return } }
            var news: [DatabaseID: Int64] = [:]
            for (database, position) in found {
                guard let known = self.positions[database], position > known else { continue }
                self.positions[database] = position
                news[database] = position
            }
            guard !news.isEmpty else { return }
            let report = CommittedChanges(committedMilliseconds: now, changes: [], incomplete: news)
            self.observer?.committed(report)
        }
    }
}
