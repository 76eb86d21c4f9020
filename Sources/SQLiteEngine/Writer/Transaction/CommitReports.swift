import RecordStore

/// Reports of commits to the observer: what each has changed in watched databases.
final class CommitReports {
    /// Passes commits on to their observer.
    let observation: CommitObservation
    /// Changes of the transaction in watched databases.
    var current = CommitReport()
    private var committed: CommittedChanges?
    /// The positions of watched databases after the last commit of ours.
    private var watchedPositions: [DatabaseID: Int64] = [:]
    private let positions: WriterPositions

    init(_ observation: CommitObservation, _ positions: WriterPositions) {
        self.observation = observation
        self.positions = positions
    }

    func isWatched(_ database: DatabaseID) -> Bool { self.current.watched[database] != nil }

    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID) {
        self.current.note(kind, at: position, in: database)
    }

    func begin() { self.current = CommitReport(watched: self.observation.watched) }

    /// Gives the position from which on somebody looks at the database here: what others change
    /// behind it is told.
    func startingPosition(of database: DatabaseID) throws(StorageFailure) -> Int64 {
        let position = try self.positions.last(of: database)
        guard self.isWatched(database) else { return position }
        if self.watchedPositions.count > 2 * self.current.watched.count + 1_000 {
            self.watchedPositions = self.watchedPositions.filter { self.isWatched($0.key) }
        }
        self.watchedPositions[database] = position
        return position
    }

    /// Notes what another process has changed in watched databases since the last commit of ours:
    /// that there is something.
    func noteChangesOfOthers() throws(StorageFailure) {
        for database in self.current.watched.keys {
            let position = try self.positions.last(of: database)
            guard let known = self.watchedPositions[database], position > known else { continue }
            self.current.noteMore(in: database, upTo: position)
        }
    }

    /// Notes that a database has a new last position, which is ours.
    func advanced(_ database: DatabaseID, to position: Int64) {
        if self.isWatched(database) { self.watchedPositions[database] = position }
    }

    func commit(atMilliseconds now: Int64) {
        self.committed = self.current.committed(atMilliseconds: now)
        self.watchedPositions.merge(self.current.incomplete) { max($0, $1) }
        self.current = CommitReport()
    }

    /// The report of the last commit, once; `nil` if there is nothing to report.
    func takeCommitted() -> CommittedChanges? {
        defer { self.committed = nil }
        return self.committed
    }
}
