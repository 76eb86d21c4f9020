import RecordModel
import RecordStore

extension WriterTransaction {
    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        let statement = self.statements.record
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, name)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return StoredRecord(
            recordType: try self.typeName(statement.integer(0)),
            position: statement.integer(1),
            system: SystemFields(
                createdMilliseconds: statement.integer(2),
                modifiedMilliseconds: statement.integer(3),
                createdBy: try self.authorName(statement.integer(4)),
                modifiedBy: try self.authorName(statement.integer(5))
            ),
            parent: statement.isNull(6) ? nil : statement.text(6),
            body: RecordBody(trusted: statement.bytes(7))
        )
    }

    func insert(
        _ record: StoredRecord,
        named name: String,
        in zone: ZoneKey,
        environment: EnvironmentID
    ) throws(StorageFailure) {
        let statement = self.statements.insertRecord
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, name)
        statement.bind(4, try self.typeNumber(record.recordType, in: environment))
        statement.bind(5, record.position)
        statement.bind(6, record.system.createdMilliseconds)
        statement.bind(7, record.system.modifiedMilliseconds)
        statement.bind(8, try self.authorNumber(record.system.createdBy))
        statement.bind(9, try self.authorNumber(record.system.modifiedBy))
        statement.bind(10, record.parent)
        statement.bind(11, record.body.bytes)
        try statement.run()
        // A record has one state: what is alive has no tombstone.
        self.statements.deleteTombstone.bind(1, zone.database.rawValue)
        self.statements.deleteTombstone.bind(2, zone.number)
        self.statements.deleteTombstone.bind(3, name)
        try self.statements.deleteTombstone.run()
    }

    func update(_ record: StoredRecord, named name: String, in zone: ZoneKey) throws(StorageFailure) {
        let statement = self.statements.updateRecord
        statement.bind(1, record.position)
        statement.bind(2, record.system.modifiedMilliseconds)
        statement.bind(3, try self.authorNumber(record.system.modifiedBy))
        statement.bind(4, record.parent)
        statement.bind(5, record.body.bytes)
        statement.bind(6, zone.database.rawValue)
        statement.bind(7, zone.number)
        statement.bind(8, name)
        try statement.run()
    }

    func delete(
        recordNamed name: String,
        type: String,
        in zone: ZoneKey,
        environment: EnvironmentID,
        at position: Int64
    ) throws(StorageFailure) {
        self.statements.deleteRecord.bind(1, zone.database.rawValue)
        self.statements.deleteRecord.bind(2, zone.number)
        self.statements.deleteRecord.bind(3, name)
        try self.statements.deleteRecord.run()
        let statement = self.statements.insertTombstone
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, name)
        statement.bind(4, position)
        statement.bind(5, try self.typeNumber(type, in: environment))
        try statement.run()
    }

    func holders(of target: String, in zone: ZoneKey, limit: Int) throws(StorageFailure) -> [Holder] {
        let statement = self.statements.holders
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, target)
        statement.bind(4, Int64(limit))
        var holders: [Holder] = []
        while try statement.step() {
            let kinds = HoldKinds(rawValue: UInt8(truncatingIfNeeded: statement.integer(1)))
            holders.append(Holder(name: statement.text(0), kinds: kinds))
        }
        return holders
    }

    func countOfDeleteSelfHolders(
        of target: String,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> Int {
        let statement = self.statements.countOfHolders
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, target)
        statement.bind(4, Int64(HoldKinds.deleteSelf.rawValue))
        statement.bind(5, Int64(limit))
        _ = try statement.step()
        defer { statement.reset() }
        return Int(statement.integer(0))
    }

    func setHold(
        _ kinds: HoldKinds,
        of target: String,
        by holder: String,
        in zone: ZoneKey
    ) throws(StorageFailure) {
        let statement = kinds.isEmpty ? self.statements.deleteHold : self.statements.setHold
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, target)
        statement.bind(4, holder)
        if !kinds.isEmpty { statement.bind(5, Int64(kinds.rawValue)) }
        try statement.run()
    }
}
