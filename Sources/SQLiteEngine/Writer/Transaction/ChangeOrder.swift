import GRDBSQLite
import StorageContract

/// The order of changes, a row for up to 64 of a zone, and the entries to remove from it later.
final class ChangeOrder {
    /// The changes of the transaction, and the growth of its zones and databases.
    var pending = PendingChanges()
    let statements: ChangeStatements
    /// The stale entries that are being removed from `change`.
    var staleRound: StaleRound?
    /// Entries that became stale since the last round began, as far as counted.
    private(set) var staleWaiting = 0
    /// Whether the file may have more stale entries than were counted.
    private(set) var mayBeStale = true

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        self.statements = try ChangeStatements(connection)
    }

    /// Forgets which entries are stale: the next round finds them in the file.
    func forgetStale() {
        self.staleRound = nil
        self.staleWaiting = 0
        self.mayBeStale = true
    }

    /// Notes that a round was read from the file, while other entries wait for the next one.
    func roundStarted(waiting: Int) {
        self.staleWaiting = waiting
        self.mayBeStale = false
    }

    /// Writes the changes of the transaction, as its last step.
    func write() throws(StorageFailure) {
        guard !self.pending.isEmpty else { return }
        for zone in self.pending.zones {
            try self.insertBlocks(of: zone)
            try self.count(zone)
            guard !zone.stale.isEmpty else { continue }
            let statement = self.statements.insertStale
            statement.bind(1, zone.key.database.rawValue)
            statement.bind(2, zone.key.number)
            try statement.run(bytes: ChangeBlock.encode(positions: zone.stale.sorted()), at: 3)
            self.staleWaiting += zone.stale.count
        }
        self.pending.removeAll()
    }

    /// Updates the zone's row; a zone that was deleted meanwhile has none.
    private func count(_ zone: PendingChanges.Zone) throws(StorageFailure) {
        let statement = self.statements.countZone
        statement.bind(1, zone.key.database.rawValue)
        statement.bind(2, zone.key.number)
        statement.bind(3, zone.position)
        statement.bind(4, Int64(zone.recordsAdded))
        statement.bind(5, Int64(zone.bytesAdded))
        statement.bind(6, Int64(zone.rowBytesAdded))
        try statement.run()
    }

    private func insertBlocks(of zone: PendingChanges.Zone) throws(StorageFailure) {
        let statement = self.statements.insert
        var start = 0
        while start < zone.entries.count {
            let end = min(start + ChangeBlock.entriesMax, zone.entries.count)
            statement.bind(1, zone.key.database.rawValue)
            statement.bind(2, zone.key.number)
            statement.bind(3, zone.entries[end - 1].position)
            try statement.run(bytes: ChangeBlock.encode(zone.entries[start..<end]), at: 4)
            start = end
        }
    }
}
