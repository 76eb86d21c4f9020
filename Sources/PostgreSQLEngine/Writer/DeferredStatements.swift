import RecordModel
import StorageContract

/// The statements of deferred rows.
///
/// None waits for a response.
struct DeferredStatements {
    let transaction: PostgreSQLTransaction

    private var connection: PostgreSQLConnection { self.transaction.connection }

    func send(_ deferred: DeferredWrites) throws(StorageFailure) {
        guard !deferred.isEmpty else { return }
        let (zones, outcomes) = deferred.take()
        for (key, zone) in zones.sorted(by: { $0.key.precedes($1.key) }) {
            try self.create(zone.created, in: key)
            try self.update(zone.updated, in: key)
            try self.move(zone.changes, from: zone.left, in: key)
        }
        try self.put(outcomes: outcomes)
    }

    private func create(
        _ created: [DeferredWrites.CreatedRecord],
        in zone: ZoneKey
    ) throws(StorageFailure) {
        guard !created.isEmpty else { return }
        let records = created.map(\.record)
        let names = SQLValue.texts(created.map(\.name))
        try self.connection.write(
            RecordSQL.insert,
            zone.parameters + [
                .integers(records.map(\.number)), names, .integers(created.map(\.type)),
                .integers(records.map(\.position)), .integers(records.map(\.system.createdMilliseconds)),
                .integers(records.map(\.system.modifiedMilliseconds)), .integers(created.map(\.creator)),
                .integers(created.map(\.modifier)), .texts(records.map(\.parent)),
                .byteStrings(records.map(\.body.bytes)),
            ]
        )
        // A record has one state: the name of a live record has no tombstone.
        try self.connection.write(RecordSQL.removeTombstones, zone.parameters + [names]) { removed in
            for row in 0..<removed.count {
                let bytes = RowBytes.tombstone(named: removed.text(row, 0))
                self.transaction.growth.count(rowBytes: -bytes, in: zone)
            }
        }
    }

    private func update(
        _ updated: [DeferredWrites.UpdatedRecord],
        in zone: ZoneKey
    ) throws(StorageFailure) {
        guard let first = updated.first else { return }
        let records = updated.map(\.record)
        guard updated.count > 1 else {
            return try self.connection.write(
                RecordSQL.updateOne,
                zone.parameters + [
                    .integer(first.record.number), .integer(first.record.position),
                    .integer(first.record.system.modifiedMilliseconds), .integer(first.modifier),
                    first.record.parent.map(SQLValue.text) ?? .null, .bytes(first.record.body.bytes),
                ]
            )
        }
        try self.connection.write(
            RecordSQL.update,
            zone.parameters + [
                .integers(records.map(\.number)), .integers(records.map(\.position)),
                .integers(records.map(\.system.modifiedMilliseconds)), .integers(updated.map(\.modifier)),
                .texts(records.map(\.parent)), .byteStrings(records.map(\.body.bytes)),
            ]
        )
    }

    private func move(
        _ changes: [DeferredWrites.Change],
        from left: [Int64],
        in zone: ZoneKey
    ) throws(StorageFailure) {
        if let change = changes.first, changes.count == 1, left.count == 1 {
            let parameters = [SQLValue.integer(left[0]), .integer(change.position), .integer(change.record)]
            return try self.connection.write(RecordSQL.moveChange, zone.parameters + parameters)
        }
        if !left.isEmpty {
            let runs = left.runs
            try self.connection.write(
                RecordSQL.removeChanges,
                zone.parameters + [.integers(runs.map(\.lowerBound)), .integers(runs.map(\.upperBound))]
            )
        }
        guard !changes.isEmpty else { return }
        try self.connection.write(
            RecordSQL.insertChanges,
            zone.parameters + [.integers(changes.map(\.position)), .integers(changes.map(\.record))]
        )
    }

    private func put(outcomes rows: [[ColumnValue]]) throws(StorageFailure) {
        guard rows.count > 1 else {
            for row in rows { try self.transaction.tables.put(row, in: RequestRow.table) }
            return
        }
        let columns = RequestRow.table.columns.enumerated().map { offset, column in
            SQLValue(rows.map { $0[offset] }, column.kind)
        }
        try self.connection.write(Self.insertOutcomes, columns)
    }

    /// Outcomes of requests without an earlier one.
    private static let insertOutcomes = SQL(
        """
        INSERT INTO tidemark."request" (database, id, outcome)
        SELECT u.database, u.id, u.outcome FROM unnest($1::bigint[], $2::bytea[], $3::bytea[])
            AS u(database, id, outcome)
        """,
        reach: .directory
    )
}

extension ZoneKey {
    fileprivate func precedes(_ other: ZoneKey) -> Bool {
        (self.database.rawValue, self.number) < (other.database.rawValue, other.number)
    }
}

extension [Int64] {
    /// The numbers as runs without gaps, in ascending order.
    fileprivate var runs: [ClosedRange<Int64>] {
        var runs: [ClosedRange<Int64>] = []
        for number in self.sorted() {
            if let last = runs.last, number == last.upperBound &+ 1, number > last.upperBound {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
        return runs
    }
}
