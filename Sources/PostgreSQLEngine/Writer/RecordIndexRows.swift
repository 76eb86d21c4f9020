import RecordModel
import StorageContract

/// The indexes and references of a zone's records.
///
/// Each kind of row is one statement with an array for each column, which waits for no response.
struct RecordIndexRows {
    let transaction: PostgreSQLTransaction
    let zone: ZoneKey

    /// Adds entries that may exist, and removes entries that may be absent; counts only rows that
    /// changed.
    func change(_ changes: EntryChanges) throws(StorageFailure) {
        try self.write(changes.removed, RecordSQL.removeEntries, sign: -1)
        try self.write(changes.added, RecordSQL.insertEntries, sign: 1)
    }

    private func write(
        _ entries: [(entry: IndexEntry, record: Int64)],
        _ sql: SQL,
        sign: Int
    ) throws(StorageFailure) {
        guard !entries.isEmpty else { return }
        try self.transaction.connection.write(
            sql,
            self.zone.parameters + [
                .integers(entries.map(\.entry.index)), .byteStrings(entries.map(\.entry.value)),
                .integers(entries.map(\.record)),
            ]
        ) { self.count(sign, $0, base: RowBytes.entryBase) }
    }

    /// Removes all entries and references of deleted records that cannot be read.
    func removeAll(of deletes: [RecordWrites.Delete]) throws(StorageFailure) {
        guard !deletes.isEmpty else { return }
        let zone = self.zone.parameters
        try self.transaction.connection.write(
            RecordSQL.removeAllEntries,
            zone + [.integers(deletes.map(\.record.number))]
        ) { self.count(-1, $0, base: RowBytes.entryBase) }
        try self.transaction.connection.write(
            RecordSQL.removeAllReferences,
            zone + [.texts(deletes.map(\.name))]
        ) { self.count(-1, $0, base: RowBytes.referenceBase) }
    }

    /// Counts added or removed rows, each with its size plus `base`.
    private func count(_ sign: Int, _ rows: ResultRows, base: Int) {
        let bytes = (0..<rows.count).reduce(0) { $0 + base + Int(rows.integer($1, 0)) }
        self.transaction.growth.count(rowBytes: sign * bytes, in: self.zone)
    }

    func change(_ changes: ReferenceChanges) throws(StorageFailure) {
        let ended = changes.ended
        if !ended.isEmpty {
            let names = [SQLValue.texts(ended.map(\.target)), .texts(ended.map(\.referrer))]
            try self.transaction.connection.write(RecordSQL.removeReferences, self.zone.parameters + names) {
                self.count(-1, $0, base: RowBytes.referenceBase)
            }
        }
        let made = changes.made
        guard !made.isEmpty else { return }
        for reference in made where reference.change.before == nil {
            let bytes = RowBytes.reference(of: reference.target, by: reference.referrer)
            self.transaction.growth.count(rowBytes: bytes, in: self.zone)
        }
        try self.transaction.connection.write(
            RecordSQL.setReferences,
            self.zone.parameters + [
                .texts(made.map(\.target)), .texts(made.map(\.referrer)),
                .integers(made.map { Int64($0.change.kinds.rawValue) }),
            ]
        )
    }
}
