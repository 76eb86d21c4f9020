import RecordModel
import StorageContract

/// Rows of zones in the form of a move.
extension ContentsReader {
    func contents(
        _ table: Table,
        of zone: ZoneKey,
        after key: [ColumnValue],
        limit: Int
    ) -> [[ColumnValue]] {
        let rows = self.rows(of: zone, in: table).sorted {
            table.key(of: $0).lexicographicallyPrecedes(table.key(of: $1))
        }
        let after = Self.prefix(zone) + key
        let rest = key.isEmpty ? rows[...] : rows.drop { !after.lexicographicallyPrecedes(table.key(of: $0)) }
        return Array(rest.prefix(limit))
    }

    func areStored(_ rows: [[ColumnValue]], in table: Table) -> [Bool] {
        var known: [ZoneKey: Set<[ColumnValue]>] = [:]
        return rows.map { row in
            guard case .integer(let database) = row[0], case .integer(let number) = row[1] else {
                return false
            }
            let zone = ZoneKey(database: DatabaseID(rawValue: database), number: number)
            if known[zone] == nil { known[zone] = Set(self.rows(of: zone, in: table)) }
            return known[zone]?.contains(row) ?? false
        }
    }

    private static func prefix(_ zone: ZoneKey) -> [ColumnValue] {
        [.integer(zone.database.rawValue), .integer(zone.number)]
    }

    private func rows(of zone: ZoneKey, in table: Table) -> [[ColumnValue]] {
        let (contents, prefix) = (self.zone(zone), Self.prefix(zone))
        return switch table.name {
        case ContentTables.record.name:
            contents.records.entries.map { prefix + self.columns($0.value, $0.key, of: zone) }
        case ContentTables.tombstone.name:
            contents.deletions.entries.map { position, deletion in
                prefix + [
                    .text(deletion.feed.name), .integer(position), .integer(0),
                    .integer(deletion.deletedMilliseconds), .integer(0), .null,
                ]
            }
        case ContentTables.reference.name:
            contents.references.entries.map { names, kinds in
                prefix + [
                    .text(names.first.text), .text(names.second.text), .integer(Int64(kinds.rawValue)),
                ]
            }
        case ContentTables.change.name:
            contents.changes.entries.map { prefix + [.integer($0.key), .integer($0.value)] }
        default:
            contents.entries.flatMap { index, entries in
                entries.entries.map { entry in
                    prefix + [
                        .integer(index), .bytes(entry.key.first.list), .integer(entry.key.second),
                    ]
                }
            }
        }
    }

    private func columns(
        _ record: ZoneContents.Record,
        _ number: Int64,
        of zone: ZoneKey
    ) -> [ColumnValue] {
        let (stored, system) = (record.stored, record.stored.system)
        return [
            .integer(number), .text(record.name), .integer(self.type(named: stored.recordType, of: zone)),
            .integer(stored.position), .integer(record.createdPosition),
            .integer(system.createdMilliseconds), .integer(system.modifiedMilliseconds),
            .integer(self.author(system.createdBy)), .integer(self.author(system.modifiedBy)),
            stored.parent.map { ColumnValue.text($0) } ?? .null, .bytes(stored.body.bytes),
        ]
    }

    private func type(named name: String, of zone: ZoneKey) -> Int64 {
        let databases = DatabaseRow.table
        guard let database = self.all(databases, .integer(zone.database.rawValue)).first else { return 0 }
        let environment = databases.integer("environment", of: database)
        let index = RecordTypeRow.byName.index
        let range = TableRange(index: index, prefix: [.integer(environment), .text(name)])
        return self.rows(of: RecordTypeRow.table, in: range, limit: 1).first.map {
            RecordTypeRow.table.integer("number", of: $0)
        } ?? 0
    }

    private func author(_ name: String) -> Int64 {
        let range = TableRange(index: AuthorRow.byRecordName.index, prefix: [.text(name)])
        guard !name.isEmpty, let row = self.rows(of: AuthorRow.table, in: range, limit: 1).first else {
            return 0
        }
        return AuthorRow.table.integer("number", of: row)
    }
}
