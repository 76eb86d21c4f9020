import RecordModel
import RecordStore

/// Records of all jobs that were read in one statement, before the jobs ask for them.
///
/// A transaction notes here what it writes: so a job finds the records of the jobs before it.
///
/// Used by the thread that has the connection.
final class PrefetchedRecords {
    private enum Found {
        case absent
        case row(RecordRows, Int)
        case written(StoredRecord)
    }

    private struct Wanted {
        let zone: ZoneKey
        let name: String
    }

    private var wanted: [Wanted] = []
    private var rows: ResultRows?
    private var found: [ZoneKey: [String: Found]] = [:]

    /// An absent record has nulls, and one that is larger than its share has no body.
    private static let records = SQL(
        """
        SELECT \(RecordColumns.all(upTo: "$4")), k.place
        FROM unnest($1::bigint[], $2::bigint[], $3::text[]) WITH ORDINALITY
            AS k(of_database, of_zone, of_name, place)
        LEFT JOIN tidemark.record AS r
            ON r.database = k.of_database AND r.zone = k.of_zone AND r.name = k.of_name
        """,
        reach: .store
    )

    var isEmpty: Bool { self.found.isEmpty && self.wanted.isEmpty }

    // MARK: Reading

    func want(_ names: [String], in zone: ZoneKey) {
        for name in names where !name.utf8.contains(0) { self.wanted.append(Wanted(zone: zone, name: name)) }
    }

    /// Sends the statement, and does not wait for it.
    ///
    /// The bodies take `bytesMax` together, of which each record has the same share.
    func send(on connection: PostgreSQLConnection, bytesMax: Int64) throws(StorageFailure) {
        guard let first = self.wanted.first else { return }
        guard self.wanted.count > 1 else {
            let parameters = first.zone.parameters + [.text(first.name)]
            return try connection.write(RecordReads.oneByName, parameters) { self.rows = $0 }
        }
        let parameters: [SQLValue] = [
            .integers(self.wanted.map(\.zone.database.rawValue)), .integers(self.wanted.map(\.zone.number)),
            .texts(self.wanted.map(\.name)), .integer(bytesMax / Int64(self.wanted.count)),
        ]
        try connection.write(Self.records, parameters) { self.rows = $0 }
    }

    /// Takes the rows that came, once all answers are there.
    func settle(on connection: PostgreSQLConnection) throws(StorageFailure) {
        guard let rows = self.rows else { return }
        let wanted = self.wanted
        self.rows = nil
        self.wanted = []
        let found = try RecordRows(rows, on: connection)
        guard wanted.count > 1 else {
            self.note(found.count == 0 ? .absent : .row(found, 0), wanted[0])
            return
        }
        for row in 0..<rows.count {
            let place = Int(rows.integer(row, RecordColumns.count)) - 1
            if found.hasRecord(row) {
                self.note(.row(found, row), wanted[place])
            } else if found.isAbsent(row) {
                self.note(.absent, wanted[place])
            }
        }
    }

    private func note(_ found: Found, _ wanted: Wanted) {
        self.found[wanted.zone, default: [:]][wanted.name] = found
    }

    // MARK: Asking

    /// The record with a name, or that there is none; `nil` if that is not known.
    func record(named name: String, in zone: ZoneKey) -> StoredRecord?? {
        switch self.found[zone]?[name] {
        case .row(let rows, let row)?: .some(rows.record(row))
        case .written(let record)?: .some(record)
        case .absent?: .some(nil)
        case nil: nil
        }
    }

    /// Records by name, up to the one with which the bodies take more than a bound; `nil` if one of them is
    /// not known.
    func records(named names: ArraySlice<String>, in zone: ZoneKey, bytesMax: Int) -> [StoredRecord?]? {
        guard self.found[zone] != nil else { return nil }
        var records: [StoredRecord?] = []
        records.reserveCapacity(names.count)
        var bytes = 0
        for name in names {
            guard let record = self.record(named: name, in: zone) else { return nil }
            records.append(record)
            bytes += record?.body.bytes.count ?? 0
            if bytes > bytesMax { break }
        }
        return records
    }

    // MARK: Changes

    /// Notes changes of a zone, if records of it were prefetched.
    func note(_ writes: RecordWrites, numbers: [Int64], in zone: ZoneKey) {
        guard self.found[zone] != nil else { return }
        for (save, number) in zip(writes.saves, numbers) {
            var record = save.record
            record.number = number
            self.found[zone]?[save.name] = .written(record)
        }
        for delete in writes.deletes { self.found[zone]?[delete.name] = .absent }
    }

    func forget() {
        self.wanted = []
        self.rows = nil
        self.found = [:]
    }
}
