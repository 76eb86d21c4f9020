import RecordModel
import RecordStore
import StorageContract
import Testing

@testable import EngineConformance

/// The entries that a file has, and those that it ought to have, computed from its records field by field.
struct IndexContents {
    struct Entry: Hashable {
        let database: Int
        let zone: Int
        let index: Int
        let value: [UInt8]
        let record: Int
    }

    private struct IndexedField {
        let name: String
        let isSearchable: Bool
        let index: Int?
    }

    let present: [Entry]
    private(set) var expected: Set<Entry> = []

    init(of file: OtherProcess) async throws {
        self.present = try await Self.rows(
            file,
            ["database", "zone", "field", "hex(value)", "record"],
            from: "entries"
        ).map { row in
            Entry(
                database: Int(row[0])!,
                zone: Int(row[1])!,
                index: Int(row[2])!,
                value: bytes(row[3]),
                record: Int(row[4])!
            )
        }
        var fields: [String: [IndexedField]] = [:]
        for row in try await Self.rows(
            file,
            ["record_type", "name", "indexes", "coalesce(index_number, '')"],
            from: "field"
        ) {
            let isSearchable = Int(row[2])! & Int(IndexKinds.searchable.rawValue) != 0
            fields[row[0], default: []].append(
                IndexedField(name: row[1], isSearchable: isSearchable, index: Int(row[3]))
            )
        }
        let columns = [
            "number", "database", "zone", "name", "type", "created_ms", "modified_ms", "coalesce(parent, '')",
            "hex(body)", "(SELECT record_name FROM author WHERE number = creator)",
        ]
        for row in try await Self.rows(file, columns, from: "record") {
            let body = RecordBody(trusted: bytes(row[8]))
            let values = Dictionary(uniqueKeysWithValues: body.fields.map { ($0.name, $0.value) })
            let known = fields[row[4]] ?? []
            for field in known {
                guard let index = field.index else { continue }
                let entries: [[UInt8]] =
                    switch SystemField(rawValue: field.name) {
                    case .recordID: [Array(row[3].utf8)]
                    case .createTime: [IndexValue.time(milliseconds: Int64(row[5])!)]
                    case .modTime: [IndexValue.time(milliseconds: Int64(row[6])!)]
                    case .parent: row[7].isEmpty ? [] : [Array(row[7].utf8)]
                    case .createdBy: [Array(row[9].utf8)]
                    case .allText:
                        Self.words(of: known.filter { $0.isSearchable }.compactMap { values[$0.name] })
                    case .modifiedBy, .etag: []
                    case nil: values[field.name].map { IndexValue.entries(of: $0) } ?? []
                    }
                for value in entries {
                    self.expected.insert(
                        Entry(
                            database: Int(row[1])!,
                            zone: Int(row[2])!,
                            index: index,
                            value: value,
                            record: Int(row[0])!
                        )
                    )
                }
            }
        }
    }

    private static func words(of values: [FieldValue]) -> [[UInt8]] {
        var words: Set<[UInt8]> = []
        for case .string(let text) in values { SearchTokens.add(ArraySlice(text.utf8), to: &words) }
        return Array(words)
    }

    /// Columns that are never NULL and contain no `|`.
    private static func rows(
        _ file: OtherProcess,
        _ columns: [String],
        from table: String
    ) async throws -> [[String]] {
        let sql = "SELECT \(columns.joined(separator: " || '|' || ")) FROM \(table)"
        return try await file.execute(sql).map {
            $0.split(separator: "|", omittingEmptySubsequences: false).map { String($0) }
        }
    }
}

private func bytes(_ hex: String) -> [UInt8] {
    var digits = Substring(hex)
    var bytes: [UInt8] = []
    while !digits.isEmpty {
        bytes.append(UInt8(digits.prefix(2), radix: 16)!)
        digits = digits.dropFirst(2)
    }
    return bytes
}
