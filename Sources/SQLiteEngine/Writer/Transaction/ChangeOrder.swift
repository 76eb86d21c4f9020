import GRDBSQLite
import StorageContract

/// The order of changes, a row for up to 64 of a zone, and the entries to remove from it later.
///
/// A transaction writes the rows of its zones anyway. So positions that become stale stand there
/// first, and a row of `stale_change` takes many of them at once.
final class ChangeOrder {
    /// The changes of the transaction, and the growth of its zones and databases.
    var pending = PendingChanges()
    let statements: ChangeStatements
    /// The stale entries that are being removed from `change`.
    var staleRound: StaleRound?
    /// Entries that were noted in `stale_change` since the last round began, as far as counted.
    private(set) var staleWaiting = 0
    /// The stale positions in the rows of zones, as far as they are known.
    private var staleOfZones: [ZoneKey: StalePositions] = [:]
    /// Whether the file may have more stale entries than were counted.
    private(set) var mayBeStale = true

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        self.statements = try ChangeStatements(connection)
    }

    /// The number of zones in memory.
    var count: Int { self.staleOfZones.count }

    /// Forgets which entries are stale: the next round finds them in the file.
    func forgetStale() {
        self.staleOfZones.removeAll()
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
            guard !zone.stale.isEmpty, zone.stale.count <= StalePositions.added else {
                try self.count(zone, self.statements.countZone)
                if !zone.stale.isEmpty { try self.insertStale(zone.stale, of: zone.key) }
                continue
            }
            var stale = try self.stale(of: zone.key)
            if !stale.add(zone.stale) {
                try self.insertStale(stale.positions + zone.stale, of: zone.key)
                stale = StalePositions()
            }
            self.statements.countZoneAndStale.bind(7, stale.bytes)
            try self.count(zone, self.statements.countZoneAndStale)
            self.staleOfZones[zone.key] = stale
        }
        self.pending.removeAll()
    }

    private func insertStale(_ positions: [Int64], of zone: ZoneKey) throws(StorageFailure) {
        let statement = self.statements.insertStale
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        try statement.run(bytes: ChangeBlock.encode(positions: positions.sorted()), at: 3)
        self.staleWaiting += positions.count
    }

    /// The stale positions in the row of a zone.
    private func stale(of zone: ZoneKey) throws(StorageFailure) -> StalePositions {
        if let known = self.staleOfZones[zone] { return known }
        let statement = self.statements.staleOfZone
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        guard try statement.step() else { return StalePositions() }
        defer { statement.reset() }
        return StalePositions(bytes: statement.isNull(0) ? [] : statement.bytes(0))
    }

    /// Updates the zone's row; a zone that was deleted meanwhile has none.
    private func count(
        _ zone: PendingChanges.Zone,
        _ statement: HotStatement
    ) throws(StorageFailure) {
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
