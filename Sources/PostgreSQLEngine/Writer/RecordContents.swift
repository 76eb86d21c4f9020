import RecordModel
import RecordStore

/// The rows of records of a zone, and of those that were deleted.
///
/// Each kind of row is one statement with an array for each column, which waits for no answer.
struct RecordContents {
    let transaction: PostgreSQLTransaction
    let zone: ZoneKey
    let environment: EnvironmentID

    func create(_ created: [(name: String, record: StoredRecord)]) throws(StorageFailure) {
        guard !created.isEmpty else { return }
        var records: [DeferredWrites.CreatedRecord] = []
        records.reserveCapacity(created.count)
        for (name, record) in created {
            records.append(
                DeferredWrites.CreatedRecord(
                    name: name,
                    type: try self.transaction.number(ofType: record.recordType, in: self.environment),
                    creator: try self.transaction.number(ofAuthor: record.system.createdBy),
                    modifier: try self.transaction.number(ofAuthor: record.system.modifiedBy),
                    record: record
                )
            )
        }
        self.transaction.deferred.create(records, in: self.zone)
    }

    func update(_ records: [StoredRecord]) throws(StorageFailure) {
        guard !records.isEmpty else { return }
        var updated: [DeferredWrites.UpdatedRecord] = []
        updated.reserveCapacity(records.count)
        for record in records {
            let modifier = try self.transaction.number(ofAuthor: record.system.modifiedBy)
            updated.append(DeferredWrites.UpdatedRecord(modifier: modifier, record: record))
        }
        self.transaction.deferred.update(updated, in: self.zone)
    }

    func delete(_ deletes: [RecordWrites.Delete]) throws(StorageFailure) {
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
