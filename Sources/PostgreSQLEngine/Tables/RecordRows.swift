import RecordModel
import StorageContract

/// Rows of records, with the names of their types and of their authors.
///
/// Rows of records have numbers in place of these names. A statement that joined them took three more
/// lookups a record, where a connection knows nearly all of them from before.
///
/// Used by the thread that has the connection.
final class RecordRows {
    private struct Names {
        var type = RecordRows.noName
        var creator = RecordRows.noName
        var modifier = RecordRows.noName
    }

    // SAFETY: it is immutable.
    private nonisolated(unsafe) static let noName = LendableName("")

    let rows: ResultRows
    /// The column with which `RecordColumns.all` begins.
    private let first: Int
    private var names: [Names] = []
    /// Of the record that is lent.
    // SAFETY: allocated as long as the object lives; written by the thread that has the connection.
    private let changeTag = UnsafeMutableRawBufferPointer.allocate(
        byteCount: ChangeTag.digitsMax,
        alignment: 1
    )

    /// Reads the names that the connection does not know, if there are any.
    ///
    /// A row may have null in place of a record.
    init(
        _ rows: ResultRows,
        from first: Int = 0,
        on connection: PostgreSQLConnection
    ) throws(StorageFailure) {
        self.rows = rows
        self.first = first
        try self.readUnknown(on: connection)
        self.names.reserveCapacity(rows.count)
        // Records that are read together mostly have the same.
        var (type, creator, modifier) = (Int64(0), Int64(0), Int64(0))
        var names = Names()
        for row in 0..<rows.count {
            let found = self.numbers(row)
            if found.type != type { names.type = connection.names.types[found.type] ?? Self.noName }
            if found.creator != creator {
                names.creator = connection.names.authors[found.creator] ?? Self.noName
            }
            if found.modifier != modifier {
                names.modifier = connection.names.authors[found.modifier] ?? Self.noName
            }
            (type, creator, modifier) = found
            self.names.append(names)
        }
    }

    deinit { self.changeTag.deallocate() }

    private func numbers(_ row: Int) -> (type: Int64, creator: Int64, modifier: Int64) {
        (
            self.integer(row, RecordColumns.type), self.integer(row, RecordColumns.creator),
            self.integer(row, RecordColumns.modifier)
        )
    }

    private func readUnknown(on connection: PostgreSQLConnection) throws(StorageFailure) {
        var (types, authors): (Set<Int64>, Set<Int64>) = ([], [])
        var isUnknown = false
        var last: (type: Int64, creator: Int64, modifier: Int64) = (0, 0, 0)
        for row in 0..<self.rows.count {
            let found = self.numbers(row)
            // A row without a record has none.
            guard found.type != 0, found != last else { continue }
            last = found
            types.insert(found.type)
            authors.insert(found.creator)
            authors.insert(found.modifier)
            isUnknown =
                isUnknown || connection.names.types[found.type] == nil
                || connection.names.authors[found.creator] == nil
                || connection.names.authors[found.modifier] == nil
        }
        guard isUnknown else { return }
        try connection.names.read(types: types, authors: authors, on: connection)
    }

    private func integer(_ row: Int, _ column: Int) -> Int64 {
        self.rows.integer(row, self.first + column)
    }

    var count: Int { self.rows.count }

    /// Whether there is no record.
    func isAbsent(_ row: Int) -> Bool { self.rows.isNull(row, self.first + RecordColumns.number) }

    /// Whether there is a record, and its body was not left out.
    func hasRecord(_ row: Int) -> Bool { !self.rows.isNull(row, self.first + RecordColumns.body) }

    func number(_ row: Int) -> Int64 { self.integer(row, RecordColumns.number) }

    func name(_ row: Int) -> String { self.rows.text(row, self.first + RecordColumns.name) }

    /// Whether the record was not changed since it was created.
    func isNew(_ row: Int) -> Bool {
        self.integer(row, RecordColumns.position) == self.integer(row, RecordColumns.createdPosition)
    }

    func record(_ row: Int) -> StoredRecord {
        StoredRecord(
            number: self.number(row),
            recordType: self.names[row].type.text,
            position: self.integer(row, RecordColumns.position),
            system: SystemFields(
                createdMilliseconds: self.integer(row, RecordColumns.created),
                modifiedMilliseconds: self.integer(row, RecordColumns.modified),
                createdBy: self.names[row].creator.text,
                modifiedBy: self.names[row].modifier.text
            ),
            parent: self.rows.optionalText(row, self.first + RecordColumns.parent),
            body: RecordBody(trusted: self.rows.bytes(row, self.first + RecordColumns.body))
        )
    }

    /// The record as a visitor gets it, for as long as this object lives and until the next is lent.
    func lent(_ row: Int) -> FeedRow {
        let position = self.integer(row, RecordColumns.position)
        let names = self.names[row]
        return FeedRow(
            number: self.number(row),
            position: position,
            record: LentRecord(
                name: self.rows.lent(row, self.first + RecordColumns.name),
                recordType: names.type.bytes,
                changeTag: ChangeTag.write(position, into: self.changeTag),
                system: LentSystemFields(
                    createdMilliseconds: self.integer(row, RecordColumns.created),
                    modifiedMilliseconds: self.integer(row, RecordColumns.modified),
                    createdBy: names.creator.bytes,
                    modifiedBy: names.modifier.bytes
                ),
                parent: self.rows.lent(row, self.first + RecordColumns.parent),
                fields: self.rows.lent(row, self.first + RecordColumns.body)
            )
        )
    }

    func namedRecord(_ row: Int) -> NamedRecord {
        NamedRecord(name: self.name(row), stored: self.record(row))
    }
}

/// Columns of a record, as every statement takes them.
enum RecordColumns {
    /// `r` is the record.
    static let all = Self.all(body: "r.body")

    /// All, with null in place of a body that is larger than a parameter.
    static func all(upTo bytes: String) -> String {
        Self.all(body: "CASE WHEN octet_length(r.body) <= \(bytes)::bigint THEN r.body END")
    }

    private static func all(body: String) -> String {
        """
        r.number, r.position, r.type, r.created_ms, r.modified_ms, r.creator, r.modifier, \
        r.parent, \(body), r.name, r.created_position
        """
    }

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
}

/// Statements that read records of a zone.
enum RecordReads {
    /// Records by name, up to the one with which the bodies take more than a bound.
    static let byName = SQL(
        """
        SELECT \(RecordColumns.all) FROM (
            SELECT k.ordinal, s.*,
                sum(octet_length(s.body)) OVER (ORDER BY k.ordinal) - octet_length(s.body) AS before
            FROM \(KeyList("name text").text)
            JOIN tidemark.record AS s ON s.database = k.database AND s.zone = k.zone AND s.name = k.name
        ) AS r WHERE r.before <= $4 ORDER BY r.ordinal
        """
    )
    static let oneByName = SQL(
        """
        SELECT \(RecordColumns.all) FROM tidemark.record AS r
        WHERE r.database = $1 AND r.zone = $2 AND r.name = $3
        """
    )
    static let oneByNumber = SQL(
        """
        SELECT \(RecordColumns.all) FROM tidemark.record AS r
        WHERE r.database = $1 AND r.zone = $2 AND r.number = $3
        """
    )
    /// Records by number, about up to the one with which the bodies take more than a bound.
    static let byNumber = SQL(
        """
        SELECT \(RecordColumns.all) FROM (
            SELECT s.*, sum(octet_length(s.body)) OVER (
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
            FROM \(KeyList("number bigint").text)
            JOIN tidemark.record AS s
                ON s.database = k.database AND s.zone = k.zone AND s.number = k.number
        ) AS r WHERE coalesce(r.before, 0) <= $4
        """
    )
    static let ascending = SQL(
        """
        SELECT \(RecordColumns.all) FROM tidemark.record AS r
        WHERE r.database = $1 AND r.zone = $2 AND r.number > $3 ORDER BY r.number LIMIT $4
        """
    )
    static let descending = SQL(
        """
        SELECT \(RecordColumns.all) FROM tidemark.record AS r
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

extension ZoneKey {
    /// The first parameters of every statement about a zone.
    var parameters: [SQLValue] { [.integer(self.database.rawValue), .integer(self.number)] }
}

extension PostgreSQLConnection {
    /// Reads records, with the names that belong to them.
    func records(_ sql: SQL, _ parameters: [SQLValue]) throws(StorageFailure) -> RecordRows {
        try RecordRows(self.rows(sql, parameters), on: self)
    }

    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        guard !name.utf8.contains(0) else { return nil }
        let rows = try self.records(RecordReads.oneByName, zone.parameters + [.text(name)])
        return rows.count == 0 ? nil : rows.record(0)
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
        let rows = try self.records(RecordReads.byName, zone.parameters + [texts, bound])
        var found: [ExactName: Int] = [:]
        for row in 0..<rows.count { found[ExactName(rows.name(row))] = row }
        var records: [StoredRecord?] = []
        records.reserveCapacity(names.count)
        var bytes = 0
        for name in names {
            let record = found[ExactName(name)].map { rows.record($0) }
            records.append(record)
            bytes += record?.body.bytes.count ?? 0
            if bytes > bytesMax { break }
        }
        return records
    }
}
