import RecordModel
import StorageContract

/// Records of all jobs that were read in one statement, before the jobs ask for them.
///
/// Used by the thread that has the connection.
final class PrefetchedRecords {
    private enum Found {
        case unread
        case absent
        case row(Int)
        /// A record that need not be read.
        case remembered(StoredRecord)
    }

    private final class Zone {
        let key: ZoneKey
        var names = IndexedNames()
        var found: [Found] = []

        init(_ key: ZoneKey) { self.key = key }
    }

    private var zones: [ZoneKey: Zone] = [:]
    /// Those that are to be read.
    private var wanted: [(zone: Zone, index: Int)] = []
    private var rows: ResultRows?
    private var records: RecordRows?

    /// An absent record has nulls, and one that is larger than its share has no body.
    private static let byName = SQL(
        """
        SELECT \(RecordColumns.all(upTo: "$4")), k.ordinal
        FROM unnest($1::bigint[], $2::bigint[], $3::text[]) WITH ORDINALITY
            AS k(of_database, of_zone, of_name, ordinal)
        LEFT JOIN tidemark.record AS r
            ON r.database = k.of_database AND r.zone = k.of_zone AND r.name = k.of_name
        """,
        reach: .store
    )

    var isEmpty: Bool { self.zones.isEmpty }

    // MARK: Reading

    /// Wants records by name, unless they are remembered.
    func want(
        _ names: [String],
        in key: ZoneKey,
        remembered: (String) -> StoredRecord? = { _ in nil }
    ) {
        let zone = self.zones[key] ?? Zone(key)
        self.zones[key] = zone
        for name in names where !name.utf8.contains(0) {
            zone.names.append(name)
            if let record = remembered(name) {
                zone.found.append(.remembered(record))
            } else {
                self.wanted.append((zone, zone.found.count))
                zone.found.append(.unread)
            }
        }
    }

    /// Sends the statement, and does not wait for it.
    ///
    /// The bodies take `bytesMax` together, and each record has the same share.
    func send(on connection: PostgreSQLConnection, bytesMax: Int64) throws(StorageFailure) {
        let keys = self.wanted.map { (zone: $0.zone.key, name: $0.zone.names[$0.index]) }
        guard let first = keys.first else { return }
        guard keys.count > 1 else {
            let parameters = first.zone.parameters + [.text(first.name)]
            return try connection.write(RecordReads.oneByName, parameters) { self.rows = $0 }
        }
        let parameters: [SQLValue] = [
            .integers(keys.map(\.zone.database.rawValue)), .integers(keys.map(\.zone.number)),
            .texts(keys.map(\.name)), .integer(bytesMax / Int64(keys.count)),
        ]
        try connection.write(Self.byName, parameters) { self.rows = $0 }
    }

    /// Takes the rows that came, once all answers are there.
    func settle(on connection: PostgreSQLConnection) throws(StorageFailure) {
        guard let rows = self.rows else { return }
        let wanted = self.wanted
        self.rows = nil
        self.wanted = []
        let records = try RecordRows(rows, on: connection)
        self.records = records
        guard wanted.count > 1 else {
            wanted[0].zone.found[wanted[0].index] = records.count == 0 ? .absent : .row(0)
            return
        }
        for row in 0..<rows.count {
            let (zone, index) = wanted[Int(rows.integer(row, RecordColumns.count)) - 1]
            if records.hasRecord(row) {
                zone.found[index] = .row(row)
            } else if records.isAbsent(row) {
                zone.found[index] = .absent
            }
        }
    }

    /// Forgets what was remembered of zones that another writer may have changed.
    func forgetRemembered(of isChanged: (ZoneKey) -> Bool) {
        for zone in self.zones.values where isChanged(zone.key) {
            for index in zone.found.indices {
                if case .remembered = zone.found[index] { zone.found[index] = .unread }
            }
        }
    }

    // MARK: Asking

    /// The record with a name, or that there is none; `nil` if that is not known.
    func record(named name: String, in zone: ZoneKey) -> StoredRecord?? {
        guard let zone = self.zones[zone], let index = zone.names.anyIndex(of: name) else { return nil }
        switch zone.found[index] {
        case .unread: return nil
        case .absent: return .some(nil)
        case .row(let row): return self.records?.record(row)
        case .remembered(let record): return record
        }
    }

    /// Records by name, up to the one with which the bodies take more than a bound; `nil` if one of them is
    /// not known.
    func records(named names: ArraySlice<String>, in zone: ZoneKey, bytesMax: Int) -> [StoredRecord?]? {
        guard self.zones[zone] != nil else { return nil }
        return names.records(bytesMax: bytesMax) { self.record(named: $0, in: zone) }
    }

    func forget() {
        self.zones = [:]
        self.wanted = []
        self.rows = nil
        self.records = nil
    }
}

extension ArraySlice<String> {
    /// Records by these names, up to the one with which the bodies take more than a bound; `nil` if one of
    /// them is not known.
    func records(bytesMax: Int, _ known: (String) -> StoredRecord??) -> [StoredRecord?]? {
        var records: [StoredRecord?] = []
        records.reserveCapacity(self.count)
        var bytes = 0
        for name in self {
            guard let record = known(name) else { return nil }
            records.append(record)
            bytes += record?.body.bytes.count ?? 0
            if bytes > bytesMax { break }
        }
        return records
    }
}
