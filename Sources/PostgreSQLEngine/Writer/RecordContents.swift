import RecordModel
import StorageContract

/// The rows of a zone's records that a write set saves or deletes.
///
/// Each kind of row is one statement with an array for each column, which waits for no response.
struct RecordContents {
    private let transaction: PostgreSQLTransaction
    private let zone: ZoneKey
    private let environment: EnvironmentID
    private var rows = DeferredWrites.Zone()
    private var growth = Growth.Zone()
    /// The last author looked up: most saves have the same one.
    private var author: (name: String, number: Int64)?

    init(_ transaction: PostgreSQLTransaction, _ zone: ZoneKey, in environment: EnvironmentID) {
        self.transaction = transaction
        self.zone = zone
        self.environment = environment
    }

    /// Adds a save, and returns the number of the record.
    mutating func add(_ save: RecordWrites.Save) throws(StorageFailure) -> Int64 {
        var record = save.record
        let modifier = try self.number(ofAuthor: record.system.modifiedBy)
        self.growth.recordBytes += Int64(record.body.bytes.count)
        if let existing = save.existing {
            self.growth.recordBytes -= Int64(existing.body.bytes.count)
            self.rows.left.append(existing.position)
            self.rows.updated.append(DeferredWrites.UpdatedRecord(modifier: modifier, record: record))
        } else {
            record.number = try self.transaction.takeRecordNumber()
            self.growth.records += 1
            self.growth.rowBytes += Int64(RowBytes.record(named: save.name))
            self.rows.created.append(
                DeferredWrites.CreatedRecord(
                    name: save.name,
                    type: try self.transaction.number(ofType: record.recordType, in: self.environment),
                    creator: try self.number(ofAuthor: record.system.createdBy),
                    modifier: modifier,
                    record: record
                )
            )
        }
        self.rows.changes.append(DeferredWrites.Change(record: record.number, position: record.position))
        // Positions ascend.
        self.growth.position = record.position
        return record.number
    }

    private mutating func number(ofAuthor name: String) throws(StorageFailure) -> Int64 {
        if let author, author.name == name { return author.number }
        let number = try self.transaction.number(ofAuthor: name)
        self.author = (name, number)
        return number
    }

    /// Defers the rows of the saves, and removes deleted records from the order of changes.
    mutating func write(deletes: [RecordWrites.Delete]) throws(StorageFailure) {
        self.rows.left += deletes.map(\.record.position)
        self.transaction.growth.add(self.growth, to: self.zone)
        self.transaction.deferred.add(self.rows, in: self.zone)
        try self.delete(deletes)
    }

    private func delete(_ deletes: [RecordWrites.Delete]) throws(StorageFailure) {
        guard !deletes.isEmpty else { return }
        var (types, creators): ([Int64], [Int64]) = ([], [])
        for delete in deletes {
            types.append(try self.transaction.number(ofType: delete.record.recordType, in: self.environment))
            creators.append(try self.transaction.number(ofAuthor: delete.record.system.createdBy))
            self.transaction.advance(self.zone, to: delete.position)
            self.transaction.growth.count(
                rowBytes: RowBytes.tombstone(named: delete.name) - RowBytes.record(named: delete.name),
                records: -1,
                bytes: -delete.record.body.bytes.count,
                in: self.zone
            )
        }
        try self.transaction.connection.write(
            RecordSQL.remove,
            self.zone.parameters + [.integers(deletes.map(\.record.number))]
        )
        try self.transaction.connection.write(
            RecordSQL.insertTombstones,
            self.zone.parameters + [
                .integer(self.transaction.nowMilliseconds), .texts(deletes.map(\.name)),
                .integers(deletes.map(\.position)), .integers(types), .integers(creators),
                .integers(deletes.map { $0.coveredBy?.rawValue }),
            ]
        )
    }
}
