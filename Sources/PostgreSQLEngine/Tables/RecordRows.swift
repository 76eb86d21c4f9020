import RecordModel
import RecordStore

/// Columns of a record, with the names of its type and of its authors, as every statement takes them.
enum RecordColumns {
    static let names = """
        r.number, r.position, t.name, r.created_ms, r.modified_ms, c.record_name, m.record_name, \
        r.parent, r.body, r.name, r.created_position
        """
    /// The tables of the names: `r` is the record.
    static let joins = """
        LEFT JOIN tidemark."record_type" AS t ON t.number = r.type \
        LEFT JOIN tidemark."author" AS c ON c.number = r.creator \
        LEFT JOIN tidemark."author" AS m ON m.number = r.modifier
        """

    static let number = 0
    static let position = 1
    static let type = 2
    static let created = 3
    static let modified = 4
    static let creator = 5
    static let modifier = 6
    static let parent = 7
    static let body = 8
    static let name = 9
    static let createdPosition = 10
    static let count = 11

    /// Records by name, up to the one with which the bodies take more than a bound.
    static let byName = SQL(
        """
        SELECT \(names) FROM (
            SELECT k.place, s.*,
                sum(octet_length(s.body)) OVER (ORDER BY k.place) - octet_length(s.body) AS before
            FROM unnest($3::text[]) WITH ORDINALITY AS k(name, place)
            JOIN tidemark.record AS s ON s.database = $1 AND s.zone = $2 AND s.name = k.name
        ) AS r \(joins) WHERE r.before <= $4 ORDER BY r.place
        """
    )
    static let oneByName = SQL(
        """
        SELECT \(names) FROM tidemark.record AS r \(joins)
        WHERE r.database = $1 AND r.zone = $2 AND r.name = $3
        """
    )
    static let byNumber = SQL(
        """
        SELECT \(names) FROM unnest($3::bigint[]) AS k(number)
        JOIN tidemark.record AS r ON r.database = $1 AND r.zone = $2 AND r.number = k.number \(joins)
        """
    )
    static let ascending = SQL(
        """
        SELECT \(names) FROM tidemark.record AS r \(joins)
        WHERE r.database = $1 AND r.zone = $2 AND r.number > $3 ORDER BY r.number LIMIT $4
        """
    )
    static let descending = SQL(
        """
        SELECT \(names) FROM tidemark.record AS r \(joins)
        WHERE r.database = $1 AND r.zone = $2 AND r.number < $3 ORDER BY r.number DESC LIMIT $4
        """
    )
    static let positions = SQL(
        """
        SELECT number, position, created_position FROM tidemark.record
        WHERE database = $1 AND zone = $2 AND name = $3
        """
    )
}

extension ResultRows {
    /// The record in a row that begins with `RecordColumns.names`.
    func record(_ row: Int) -> StoredRecord {
        StoredRecord(
            number: self.integer(row, RecordColumns.number),
            recordType: self.text(row, RecordColumns.type),
            position: self.integer(row, RecordColumns.position),
            system: SystemFields(
                createdMilliseconds: self.integer(row, RecordColumns.created),
                modifiedMilliseconds: self.integer(row, RecordColumns.modified),
                createdBy: self.text(row, RecordColumns.creator),
                modifiedBy: self.text(row, RecordColumns.modifier)
            ),
            parent: self.optionalText(row, RecordColumns.parent),
            body: RecordBody(trusted: self.bytes(row, RecordColumns.body))
        )
    }

    func namedRecord(_ row: Int) -> NamedRecord {
        NamedRecord(name: self.text(row, RecordColumns.name), stored: self.record(row))
    }
}

extension ZoneKey {
    /// The first parameters of every statement about a zone.
    var parameters: [SQLValue] { [.integer(self.database.rawValue), .integer(self.number)] }
}

extension PostgreSQLConnection {
    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        guard !name.utf8.contains(0) else { return nil }
        let rows = try self.rows(RecordColumns.oneByName, zone.parameters + [.text(name)])
        return rows.isEmpty ? nil : rows.record(0)
    }

    /// Records by name, up to the one with which the bodies take more than `bytesMax`.
    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        if names.isEmpty { return [] }
        if names.count == 1, let name = names.first { return [try self.record(named: name, in: zone)] }
        let texts = SQLValue.texts(names.map { $0.utf8.contains(0) ? nil : $0 })
        let bound = SQLValue.integer(Int64(clamping: bytesMax))
        let rows = try self.rows(RecordColumns.byName, zone.parameters + [texts, bound])
        var found: [String: Int] = [:]
        for row in 0..<rows.count { found[rows.text(row, RecordColumns.name)] = row }
        var records: [StoredRecord?] = []
        records.reserveCapacity(names.count)
        var bytes = 0
        for name in names {
            let record = found[name].map { rows.record($0) }
            records.append(record)
            bytes += record?.body.bytes.count ?? 0
            if bytes > bytesMax { break }
        }
        return records
    }
}
