import RecordModel
import StorageContract

/// The changes that other processes committed in a watched database, as read from its rows.
///
/// Rows have only the last change of each record. Positions show whether any are missing: each
/// change takes one. A position without a row belongs to a change that a later one replaced, or to
/// a subscription. Earlier values of a deleted record are in no row.
struct ChangesOfOthers {
    /// The unreported part of a database's order.
    struct Stretch: Hashable {
        let database: DatabaseID
        let environment: EnvironmentID
        /// The last reported position.
        let after: Int64
    }

    fileprivate struct Change {
        let position: Int64
        /// `nil` if no row has the time.
        let milliseconds: Int64?
        let kind: CommittedChange.Kind
    }

    let stretch: Stretch
    /// The last position of the database.
    let position: Int64
    /// In order; `nil` if the changes are unknown.
    private let changes: [Change]?
    /// Whether a position is unaccounted for, or a deleted zone has removed subscriptions.
    private let isPart: Bool

    /// Maximum number of positions for which changes are read.
    static let positionsMax: Int64 = 512
    /// Maximum number of body bytes that are read from a database.
    static let bytesMax: Int64 = 2 * 1024 * 1024
    /// The age, in milliseconds, beyond which a commit is reported with the current time: restored
    /// records keep their former dates.
    private static let ageMax: Int64 = 60_000

    /// Only the position is known.
    init(_ stretch: Stretch, position: Int64) {
        self.stretch = stretch
        self.position = position
        self.changes = nil
        self.isPart = false
    }

    private init(_ stretch: Stretch, position: Int64, _ changes: [Change]) {
        self.stretch = stretch
        self.position = position
        self.changes = changes.sorted { $0.position < $1.position }
        self.isPart =
            Int64(changes.count) != position &- stretch.after
            || changes.contains { if case .zoneDeleted = $0.kind { true } else { false } }
    }

    // MARK: Reports

    /// The reports to the observer of changes after a position: one for each commit time, which
    /// corresponds to one transaction as far as rows show.
    func reports(behind known: Int64, nowMilliseconds now: Int64) -> [CommittedChanges] {
        let database = self.stretch.database
        guard let changes = self.changes else {
            return [
                CommittedChanges(
                    committedMilliseconds: now,
                    changes: [],
                    incomplete: [database: self.position]
                )
            ]
        }
        var reports: [CommittedChanges] = []
        var last: Int64?
        for change in changes where change.position > known {
            let time = change.milliseconds.map { $0 < now - Self.ageMax ? now : $0 } ?? last ?? now
            if reports.isEmpty || (time != last && !self.isPart) {
                reports.append(CommittedChanges(committedMilliseconds: time, changes: []))
            }
            reports[reports.count - 1].changes.append(
                CommittedChange(
                    database: database,
                    environment: self.stretch.environment,
                    position: change.position,
                    origin: nil,
                    kind: change.kind
                )
            )
            last = time
        }
        guard self.isPart else { return reports }
        var whole = reports.first ?? CommittedChanges(committedMilliseconds: now, changes: [])
        whole.committedMilliseconds = last ?? now
        whole.overwritten[database] = self.position
        return [whole]
    }

    // MARK: Reading

    /// The rows of one stretch, as read so far.
    fileprivate final class Reading {
        let stretch: Stretch
        /// The last position; `nil` if the database does not exist.
        var position: Int64?
        var isReadable = false
        var zones: [Int64: String] = [:]
        var changes: [Change] = []
        /// Received records, before their names are read.
        var rows: ResultRows?
        var records: [(zone: String, named: NamedRecord, isNew: Bool)] = []

        init(_ stretch: Stretch) { self.stretch = stretch }

        var parameters: [SQLValue] {
            [.integer(self.stretch.database.rawValue), .integer(self.stretch.after)]
        }
    }

    /// Reads any number of stretches in two round trips.
    ///
    /// Call it in one snapshot, or with the databases locked. `fields` reads the fields of a record
    /// type, which the caller may have cached.
    static func read(
        _ stretches: [Stretch],
        on connection: PostgreSQLConnection,
        fields: (String, EnvironmentID) throws(StorageFailure) -> FieldDefinitions
    ) throws(StorageFailure) -> [ChangesOfOthers] {
        let readings = stretches.map { Reading($0) }
        for reading in readings { try reading.sendForZones(on: connection) }
        try connection.drain()
        for reading in readings where reading.isReadable && !reading.zones.isEmpty {
            try reading.sendForRecords(on: connection)
        }
        try connection.drain()
        for reading in readings { try reading.takeRecords(on: connection) }
        var found: [ChangesOfOthers] = []
        for reading in readings {
            guard let position = reading.position, position > reading.stretch.after else { continue }
            found.append(
                reading.isReadable
                    ? ChangesOfOthers(reading.stretch, position: position, try reading.all(fields))
                    : ChangesOfOthers(reading.stretch, position: position)
            )
        }
        return found
    }
}

// MARK: - Zones

extension ChangesOfOthers.Reading {
    private static let state = SQL(
        """
        SELECT position, tombstones_gone_through,
            (SELECT count(*) FROM (SELECT 1 FROM tidemark."zone" WHERE database = $1 LIMIT $2) AS found)
        FROM tidemark."database" WHERE number = $1
        """
    )
    private static let zones = SQL(
        """
        SELECT number, name, position, target_database FROM (
            SELECT number, name, position, target_database FROM tidemark."zone"
            WHERE database = $1 LIMIT $3
        ) AS listed WHERE position > $2
        """
    )
    private static let zoneDeletions = SQL(
        """
        SELECT position, name, deleted_ms FROM tidemark."zone_tombstone"
        WHERE database = $1 AND position > $2 ORDER BY position LIMIT $3
        """
    )

    fileprivate func sendForZones(on connection: PostgreSQLConnection) throws(StorageFailure) {
        let zonesMax = ChangeTail.zonesMax
        let limit = SQLValue.integer(Int64(zonesMax) + 1)
        try connection.write(Self.state, [self.parameters[0], limit]) { rows in
            guard !rows.isEmpty else { return }
            let position = rows.integer(0, 0)
            self.position = position
            self.isReadable =
                position.adding(clamped: 0 &- self.stretch.after) <= ChangesOfOthers.positionsMax
                && self.stretch.after >= rows.integer(0, 1) && rows.integer(0, 2) <= zonesMax
        }
        try connection.write(Self.zones, self.parameters + [limit]) { rows in
            for row in 0..<rows.count {
                self.note(
                    zone: rows.integer(row, 0),
                    named: rows.text(row, 1),
                    at: rows.integer(row, 2),
                    isView: !rows.isNull(row, 3)
                )
            }
        }
        try connection.write(Self.zoneDeletions, self.parameters + [limit]) { rows in
            for row in 0..<rows.count {
                self.changes.append(
                    ChangesOfOthers.Change(
                        position: rows.integer(row, 0),
                        milliseconds: rows.integer(row, 2),
                        kind: .zoneDeleted(rows.text(row, 1))
                    )
                )
            }
        }
    }

    /// The number of a zone is the position of its creation.
    private func note(zone number: Int64, named name: String, at position: Int64, isView: Bool) {
        func add(_ kind: CommittedChange.Kind, at position: Int64) {
            self.changes.append(
                ChangesOfOthers.Change(position: position, milliseconds: nil, kind: kind)
            )
        }
        if number > self.stretch.after { add(.zoneCreated(name), at: number) }
        guard isView else {
            self.zones[number] = name
            return
        }
        // A view of another user's zone has no records of its own.
        if position > number { add(.zoneChanged(name), at: position) }
    }
}

// MARK: - Records

extension ChangesOfOthers.Reading {
    /// Records up to the one that takes the total size of bodies beyond a bound, and their count.
    ///
    /// `OFFSET 0` makes PostgreSQL read the changes first, then a record for each: without
    /// statistics it may read all records of the zone to find the changed ones.
    private static let changes = SQL(
        """
        SELECT \(RecordColumns.all), r.zone, r.total FROM (
            SELECT s.*, count(*) OVER () AS total,
                sum(octet_length(s.body)) OVER (ORDER BY s.position) - octet_length(s.body) AS before
            FROM unnest($3::bigint[]) AS z(number)
            CROSS JOIN LATERAL (
                SELECT record FROM tidemark.change
                WHERE database = $1 AND zone = z.number AND position > $2 OFFSET 0
            ) AS c
            CROSS JOIN LATERAL (
                SELECT * FROM tidemark.record
                WHERE database = $1 AND zone = z.number AND number = c.record OFFSET 0
            ) AS s
        ) AS r WHERE r.before < $4
        """
    )
    private static let deletions = SQL(
        """
        SELECT d.zone, d.position, d.name, t.name, c.record_name, d.deleted_ms
        FROM unnest($3::bigint[]) AS z(number)
        CROSS JOIN LATERAL (
            SELECT zone, position, name, type, creator, deleted_ms FROM tidemark.tombstone
            WHERE database = $1 AND zone = z.number AND position > $2
        ) AS d
        LEFT JOIN tidemark."record_type" AS t ON t.number = d.type
        LEFT JOIN tidemark."author" AS c ON c.number = d.creator
        """
    )

    fileprivate func sendForRecords(on connection: PostgreSQLConnection) throws(StorageFailure) {
        let parameters = self.parameters + [.integers(self.zones.keys.sorted())]
        let bytesMax = SQLValue.integer(ChangesOfOthers.bytesMax)
        try connection.write(Self.changes, parameters + [bytesMax]) { self.rows = $0 }
        try connection.write(Self.deletions, parameters) { rows in
            for row in 0..<rows.count { self.changes.append(self.deletion(rows, row)) }
        }
    }

    /// Takes the received records after all responses have arrived.
    fileprivate func takeRecords(on connection: PostgreSQLConnection) throws(StorageFailure) {
        guard let rows = self.rows else { return }
        self.rows = nil
        let found = try RecordRows(rows, on: connection)
        for row in 0..<found.count {
            self.records.append(
                (
                    zone: self.zones[rows.integer(row, RecordColumns.count)] ?? "",
                    named: found.namedRecord(row),
                    isNew: found.isNew(row)
                )
            )
        }
        if !rows.isEmpty, rows.integer(0, RecordColumns.count + 1) != rows.count {
            self.isReadable = false
        }
    }

    /// A deletion has the type of the record and its creator, but no values.
    private func deletion(_ rows: ResultRows, _ row: Int) -> ChangesOfOthers.Change {
        let before = StoredRecord(
            number: 0,
            recordType: rows.text(row, 3),
            position: 0,
            system: SystemFields(
                createdMilliseconds: 0,
                modifiedMilliseconds: 0,
                createdBy: rows.text(row, 4),
                modifiedBy: ""
            ),
            parent: nil,
            body: RecordBody([])
        )
        var record = CommittedRecord(
            zone: self.zones[rows.integer(row, 0)] ?? "",
            name: rows.text(row, 2),
            before: before,
            after: nil,
            definitions: FieldDefinitions()
        )
        record.isBeforeKnown = false
        return ChangesOfOthers.Change(
            position: rows.integer(row, 1),
            milliseconds: rows.integer(row, 5),
            kind: .record(record)
        )
    }

    /// All changes, with the fields of each record's type.
    fileprivate func all(
        _ fields: (String, EnvironmentID) throws(StorageFailure) -> FieldDefinitions
    ) throws(StorageFailure) -> [ChangesOfOthers.Change] {
        var definitions: [String: FieldDefinitions] = [:]
        var changes = self.changes
        for (zone, named, isNew) in self.records {
            let type = named.stored.recordType
            if definitions[type] == nil { definitions[type] = try fields(type, self.stretch.environment) }
            var record = CommittedRecord(
                zone: zone,
                name: named.name,
                before: isNew ? nil : named.stored.withoutValues,
                after: named.stored,
                definitions: definitions[type] ?? FieldDefinitions()
            )
            record.isBeforeKnown = isNew
            changes.append(
                ChangesOfOthers.Change(
                    position: named.stored.position,
                    milliseconds: named.stored.system.modifiedMilliseconds,
                    kind: .record(record)
                )
            )
        }
        return changes
    }
}

extension StoredRecord {
    /// The record without any known values.
    fileprivate var withoutValues: StoredRecord {
        StoredRecord(
            number: self.number,
            recordType: self.recordType,
            position: 0,
            system: self.system,
            parent: nil,
            body: RecordBody([])
        )
    }
}
