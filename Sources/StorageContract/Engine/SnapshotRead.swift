/// A read of a snapshot as a value: a question that a job says it will ask.
///
/// The answer is a fact about the snapshot, whatever the job does with it.
package enum SnapshotRead: Hashable, Sendable {
    /// Rows of a declared table by key.
    case rows(Table, by: Table.Index, keys: [[ColumnValue]])
    /// The first rows of a range.
    case range(Table, TableRange, limit: Int)
    case changes(after: Int64, in: ZoneKey, limit: Int)
    case deletions(after: Int64, in: ZoneKey, limit: Int)
    case entries(EntryScan)
    case numbers(NumberScan)
    case countOfEntries(EntryScan)

    /// The row with a key.
    package static func row<Row: TableRow, each Value: ColumnConvertible>(
        _ index: RowIndex<Row>,
        _ key: repeat each Value
    ) -> SnapshotRead {
        .rows(Row.table, by: index.index, keys: [index.key(repeat each key).values])
    }

    package static func range<Row: TableRow>(_ range: RowRange<Row>, limit: Int) -> SnapshotRead {
        .range(Row.table, range.range, limit: limit)
    }
}

/// Zones and record types that an engine remembers from earlier snapshots.
///
/// They may be out of date, which only the snapshot's answer tells. They are good for choosing
/// questions, and for nothing else.
package protocol KnownRows {
    func zone(named name: String, in database: DatabaseID) -> ZoneKey?
    func type(named name: String, in environment: EnvironmentID) -> StoredType?
}

// Identity counts.
extension Table: Hashable {
    @usableFromInline
    package static func == (left: Table, right: Table) -> Bool { left === right }

    @usableFromInline
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
