import GRDBSQLite
import RecordStore

/// Positions, and what the observer of commits is told.
extension WriterTransaction {
    func isWatched(_ database: DatabaseID) -> Bool { self.report.watched[database] != nil }

    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID) {
        self.report.note(kind, at: position, in: database)
    }

    /// Somebody begins to look at the database here: what others change from now on is told.
    func position(of database: DatabaseID) throws(StorageFailure) -> Int64 {
        let position = try self.lastPosition(of: database)
        guard self.isWatched(database) else { return position }
        if self.watchedPositions.count > 2 * self.report.watched.count + 1_000 {
            self.watchedPositions = self.watchedPositions.filter { self.isWatched($0.key) }
        }
        self.watchedPositions[database] = position
        return position
    }

    /// The last position that was taken in a database.
    func lastPosition(of database: DatabaseID) throws(StorageFailure) -> Int64 {
        if let known = self.caches.counters[database] { return known.position }
        let statement = self.statements.position
        statement.bind(1, database.rawValue)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        return statement.integer(0)
    }

    func lastChange(
        inZonesOf database: DatabaseID,
        exceptNamed name: String
    ) throws(StorageFailure) -> Int64 {
        let statement = self.statements.zones.lastChange
        statement.bind(1, database.rawValue)
        statement.bind(2, name)
        guard try statement.step() else { return 0 }
        defer { statement.reset() }
        return statement.integer(0)
    }

    /// Notes what another process has changed in watched databases since the last commit of ours:
    /// that there is something.
    func noteChangesOfOthers() throws(StorageFailure) {
        for database in self.report.watched.keys {
            let position = try self.lastPosition(of: database)
            guard let known = self.watchedPositions[database], position > known else { continue }
            self.report.noteMore(in: database, upTo: position)
        }
    }
}
