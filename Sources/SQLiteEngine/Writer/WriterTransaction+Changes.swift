import GRDBSQLite
import RecordStore

/// The order of changes, a row for up to 64 of a zone, and what is to be taken out of it later.
extension WriterTransaction {
    /// Writes down the changes of the transaction; the last thing before its end.
    func writeChanges() throws(StorageFailure) {
        guard !self.changes.isEmpty else { return }
        for zone in self.changes.zones {
            try self.insertBlocks(of: zone)
            try self.count(zone)
            guard !zone.stale.isEmpty else { continue }
            let statement = self.statements.changes.insertStale
            statement.bind(1, zone.key.database.rawValue)
            statement.bind(2, zone.key.number)
            try statement.run(bytes: ChangeBlock.encode(positions: zone.stale.sorted()), at: 3)
            self.caches.staleWaiting += zone.stale.count
        }
        self.changes.removeAll()
    }

    /// Brings the zone's row up to date; a zone that was deleted meanwhile has none.
    private func count(_ zone: PendingChanges.Zone) throws(StorageFailure) {
        let statement = self.statements.zones.count
        statement.bind(1, zone.key.database.rawValue)
        statement.bind(2, zone.key.number)
        statement.bind(3, zone.position)
        statement.bind(4, Int64(zone.recordsAdded))
        statement.bind(5, Int64(zone.bytesAdded))
        statement.bind(6, Int64(zone.rowBytesAdded))
        try statement.run()
    }

    private func insertBlocks(of zone: PendingChanges.Zone) throws(StorageFailure) {
        let statement = self.statements.changes.insert
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
