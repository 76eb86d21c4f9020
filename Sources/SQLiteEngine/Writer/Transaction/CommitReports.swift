import StorageContract

/// Reports commits' changes in watched databases to the observer.
final class CommitReports {
    /// Passes commits on to their observer.
    let observation: CommitObservation
    /// Changes of the transaction in watched databases.
    var current = CommitReport()
    private var committed: CommittedChanges?
    /// The positions of watched databases after our last commit.
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

    /// Returns the position from which on the database is watched; later changes of other processes
    /// are reported.
    func startingPosition(of database: DatabaseID) throws(StorageFailure) -> Int64 {
        let position = try self.positions.last(of: database)
        guard self.isWatched(database) else { return position }
        if self.watchedPositions.count > 2 * self.current.watched.count + 1_000 {
            self.watchedPositions = self.watchedPositions.filter { self.isWatched($0.key) }
        }
        self.watchedPositions[database] = position
        return position
    }

    /// Notes other processes' changes in watched databases since our last commit, without their
    /// details.
    func noteChangesOfOthers() throws(StorageFailure) {
        for database in self.current.watched.keys {
            let position = try self.positions.last(of: database)
            guard let known = self.watchedPositions[database], position > known else { continue }
            self.current.noteMore(in: database, upTo: position)
        }
    }

    /// Notes that our transaction moved a database's last position.
    func advanced(_ database: DatabaseID, to position: Int64) {
        if self.isWatched(database) { self.watchedPositions[database] = position }
    }

    func commit(atMilliseconds now: Int64) {
        self.committed = self.current.committed(atMilliseconds: now)
        self.watchedPositions.merge(self.current.incomplete) { max($0, $1) }
        self.current = CommitReport()
    }

    /// Returns the report of the last commit once; `nil` if there is nothing to report.
    func takeCommitted() -> CommittedChanges? {
        defer { self.committed = nil }
        return self.committed
    }
}
