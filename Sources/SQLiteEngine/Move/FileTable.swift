import StorageContract

/// The tables with another form in the file than in a move.
///
/// `change` has blocks of entries, and `index_entry` a key of one blob. `record` has its number as
/// the key.
enum FileTable {
    static let record = Table(
        "record",
        columns: ContentTables.record.columns,
        key: ["number"],
        indexes: [.lookup("database", "zone")]
    )
    static let tombstone = Table(
        "tombstone",
        columns: ContentTables.tombstone.columns.dropLast() + [.optional(.integer("share"))],
        key: ["database", "zone", "name"]
    )
    static let change = Table(
        "change",
        columns: [.integer("database"), .integer("zone"), .integer("position"), .bytes("entries")],
        key: ["database", "zone", "position"]
    )
    static let entry = Table(
        "index_entry",
        columns: [.bytes("key"), .integer("record")],
        key: ["key", "record"]
    )

    /// The file's table for a table of the move, and the index that gives the move's order.
    static func table(for table: Table) -> (table: Table, index: Table.Index) {
        switch table.name {
        case ContentTables.record.name: (Self.record, Self.record.indexes[1])
        case ContentTables.tombstone.name: (Self.tombstone, Self.tombstone.key)
        case ContentTables.change.name: (Self.change, Self.change.key)
        case ContentTables.entry.name: (Self.entry, Self.entry.key)
        default: (table, table.key)
        }
    }

    /// The key of an entry in the file.
    static func key(ofEntry row: [ColumnValue]) throws(StorageFailure) -> [ColumnValue] {
        guard case .integer(let database) = row[0], case .integer(let zone) = row[1],
            case .integer(let index) = row[2], case .bytes(let value) = row[3]
        else { throw .unexpected(code: 0) }
        let key = EntryKey(index, in: ZoneKey(database: DatabaseID(rawValue: database), number: zone))
        return [.bytes(key[value]), row[4]]
    }

    /// The row of an entry, from its key in the file.
    static func entry(_ row: [ColumnValue]) throws(StorageFailure) -> [ColumnValue] {
        guard case .bytes(let key) = row[0], let parts = EntryKey.parts(of: key) else {
            throw .unexpected(code: 0)
        }
        return [
            .integer(parts.zone.database.rawValue), .integer(parts.zone.number), .integer(parts.index),
            .bytes(parts.value), row[1],
        ]
    }
}
