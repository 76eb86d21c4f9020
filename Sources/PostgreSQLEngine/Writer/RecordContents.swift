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
        var (types, creators, modifiers): ([Int64], [Int64], [Int64]) = ([], [], [])
        for (_, record) in created {
            types.append(try self.transaction.number(ofType: record.recordType, in: self.environment))
            creators.append(try self.transaction.number(ofAuthor: record.system.createdBy))
            modifiers.append(try self.transaction.number(ofAuthor: record.system.modifiedBy))
        }
        let records = created.map(\.record)
        let names = created.map(\.name)
        try self.transaction.connection.write(
            RecordSQL.insert,
            self.zone.parameters + [
                .integers(records.map(\.number)), .texts(names), .integers(types),
                .integers(records.map(\.position)), .integers(records.map(\.system.createdMilliseconds)),
                .integers(records.map(\.system.modifiedMilliseconds)), .integers(creators),
                .integers(modifiers), .texts(records.map(\.parent)),
                .byteStrings(records.map(\.body.bytes)),
            ]
        )
        // A record has one state: what is alive has no tombstone.
        try self.transaction.connection.write(
            RecordSQL.removeTombstones,
            self.zone.parameters + [.texts(names)]
        ) { removed in
            for row in 0..<removed.count {
                self.transaction.growth.count(
                    rowBytes: -RowBytes.tombstone(named: removed.text(row, 0)),
                    in: self.zone
                )
            }
        }
    }

    func update(_ records: [StoredRecord]) throws(StorageFailure) {
        guard let first = records.first else { return }
        if records.count == 1 {
            return try self.transaction.connection.write(
                RecordSQL.updateOne,
                self.zone.parameters + [
                    .integer(first.number), .integer(first.position),
                    .integer(first.system.modifiedMilliseconds),
                    .integer(try self.transaction.number(ofAuthor: first.system.modifiedBy)),
                    first.parent.map(SQLValue.text) ?? .null,
                    .bytes(first.body.bytes),
                ]
            )
        }
        var modifiers: [Int64] = []
        for record in records {
            modifiers.append(try self.transaction.number(ofAuthor: record.system.modifiedBy))
        }
        try self.transaction.connection.write(
            RecordSQL.update,
            self.zone.parameters + [
                .integers(records.map(\.number)), .integers(records.map(\.position)),
                .integers(records.map(\.system.modifiedMilliseconds)), .integers(modifiers),
                .texts(records.map(\.parent)), .byteStrings(records.map(\.body.bytes)),
            ]
        )
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
