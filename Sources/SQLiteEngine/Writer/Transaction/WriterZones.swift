import RecordModel
import StorageContract

/// Zones by name, and their rows.
final class WriterZones {
    private var known = ZoneKeys()
    private let statements: ZoneStatements
    private let order: ChangeOrder
    private let entries: WriterEntries

    init(
        _ connection: OpaquePointer,
        order: ChangeOrder,
        entries: WriterEntries
    ) throws(StorageFailure) {
        self.statements = try ZoneStatements(connection)
        self.order = order
        self.entries = entries
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

    func insert(
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
        self.known[name, database] = key
        return key
    }

    /// Deletes the row of a zone, and returns the amount of its contents.
    func delete(_ zone: ZoneKey, named name: String) throws(StorageFailure) -> StoredAmount {
        self.forget(named: name, in: zone.database)
        // Queued entries belong to the zone as well.
        try self.entries.write()
        var amount = StoredAmount()
        let contents = self.statements.contents
        contents.bind(1, zone.database.rawValue)
        contents.bind(2, name)
        if try contents.step() {
            defer { contents.reset() }
            amount = self.order.pending.drop(
                records: try contents.integer(0).counted(),
                recordBytes: try contents.integer(1).counted(),
                rowBytes: try contents.integer(2).counted(),
                of: zone
            )
        }
        self.statements.delete.bind(1, zone.database.rawValue)
        self.statements.delete.bind(2, name)
        try self.statements.delete.run()
        return amount
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
