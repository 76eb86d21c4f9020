import RecordModel
import RecordStore

/// Zones by name, and their creation and deletion.
final class WriterZones {
    private var known = ZoneKeys()
    private let statements: ZoneStatements
    private let order: ChangeOrder
    private let entries: WriterEntries
    private let reports: CommitReports
    private let work: HousekeepingWork

    init(
        _ connection: OpaquePointer,
        order: ChangeOrder,
        entries: WriterEntries,
        reports: CommitReports,
        work: HousekeepingWork
    ) throws(StorageFailure) {
        self.statements = try ZoneStatements(connection)
        self.order = order
        self.entries = entries
        self.reports = reports
        self.work = work
    }

    var count: Int { self.known.count }

    func forget() { self.known = ZoneKeys() }

    func forget(named name: String, in database: DatabaseID) {
        self.known[name, database] = nil
    }

    func key(of name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        if let key = self.known[name, database] { return key }
        guard let key = try self.statements.find.zone(named: name, in: database) else { return nil }
        self.known[name, database] = key
        return key
    }

    /// Creates a zone whose number is the position of the creation: no other zone of the database
    /// ever has it.
    func create(
        named name: String,
        in database: DatabaseID,
        at position: Int64
    ) throws(StorageFailure) -> ZoneKey {
        let statement = self.statements.insert
        statement.bind(1, database.rawValue)
        statement.bind(2, name)
        statement.bind(3, position)
        try statement.run()
        let key = ZoneKey(database: database, number: position)
        self.order.pending.count(rowBytes: RowBytes.zone(named: name), in: database)
        self.known[name, database] = key
        self.reports.note(.zoneCreated(name), at: position, in: database)
        return key
    }

    func delete(
        _ zone: ZoneKey,
        named name: String,
        at position: Int64,
        nowMilliseconds: Int64
    ) throws(StorageFailure) {
        self.forget(named: name, in: zone.database)
        let bytes = try self.dropContents(of: zone, named: name)
        self.statements.delete.bind(1, zone.database.rawValue)
        self.statements.delete.bind(2, name)
        try self.statements.delete.run()
        self.statements.insertTombstone.bind(1, zone.database.rawValue)
        self.statements.insertTombstone.bind(2, position)
        self.statements.insertTombstone.bind(3, name)
        self.statements.insertTombstone.bind(4, zone.number)
        self.statements.insertTombstone.bind(5, nowMilliseconds)
        try self.statements.insertTombstone.run()
        self.statements.insertSweep.bind(1, zone.database.rawValue)
        self.statements.insertSweep.bind(2, zone.number)
        self.statements.insertSweep.bind(3, Int64(bytes))
        try self.statements.insertSweep.run()
        self.work.mayBeSweeps = true
        self.reports.note(.zoneDeleted(name), at: position, in: zone.database)
    }

    /// Takes what a zone that is about to be deleted has from the usage of its database.
    ///
    /// Returns the bytes: they count as rows until the sweep has removed them, or a user would fill
    /// the disk faster than it sweeps.
    private func dropContents(of zone: ZoneKey, named name: String) throws(StorageFailure) -> Int {
        // What they add is the zone's as well.
        try self.entries.write()
        let statement = self.statements.contents
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, name)
        guard try statement.step() else { return 0 }
        defer { statement.reset() }
        let bytes = try self.order.pending.drop(
            records: Int(statement.integer(0).counted()),
            bytes: Int(statement.integer(1).counted()),
            rowBytes: Int(statement.integer(2).counted()),
            of: zone
        )
        self.order.pending.count(
            rowBytes: bytes + RowBytes.zoneTombstone(named: name) - RowBytes.zone(named: name),
            in: zone.database
        )
        return bytes
    }

    func lastChange(
        in database: DatabaseID,
        exceptNamed name: String
    ) throws(StorageFailure) -> Int64 {
        let statement = self.statements.lastChange
        statement.bind(1, database.rawValue)
        statement.bind(2, name)
        guard try statement.step() else { return 0 }
        defer { statement.reset() }
        return statement.integer(0)
    }
}
