import RecordStore

/// The rows of the first page behind a token, which travel together with the beginning of the snapshot.
struct PrefetchedFeed {
    /// The answers that came, for whoever sent the statements.
    private final class Answers {
        var rows: [RowKey: [ColumnValue]?] = [:]
        var changes: ResultRows?
        var deletions: ResultRows?
    }

    private struct RowKey: Hashable {
        let table: ObjectIdentifier
        let index: Int
        let key: [ColumnValue]

        init(_ table: Table, _ index: Table.Index, _ key: [ColumnValue]) {
            self.table = ObjectIdentifier(table)
            self.index = index.offset
            self.key = key
        }
    }

    private var sent: Set<RowKey> = []
    private var zone: ZoneKey?
    private var after: Int64?
    private let answers = Answers()

    /// Sends the statements, and does not wait for them.
    ///
    /// Without the key of the zone it sends those about the zone itself and the database alone.
    mutating func send(
        _ feed: Prefetch.Feed,
        of zone: ZoneKey?,
        on connection: PostgreSQLConnection,
        tables: TableStatements
    ) throws(StorageFailure) {
        let answers = self.answers
        let names = [ColumnValue.integer(feed.database.rawValue), .text(feed.zone)]
        let state = [ColumnValue.integer((zone?.database ?? feed.database).rawValue)]
        for (table, key) in [(ZoneRow.table, names), (DatabaseRow.table, state)] {
            guard !key.contains(where: \.hasZero) else { return }
            let asked = RowKey(table, table.key, key)
            self.sent.insert(asked)
            try tables.send(for: table, by: table.key, key: key) { answers.rows[asked] = $0 }
        }
        guard let zone, let after = feed.after else { return }
        (self.zone, self.after) = (zone, after)
        try connection.write(
            ChangedRecords.sql,
            ChangedRecords.parameters(after: after, in: zone, limit: feed.limit)
        ) { answers.changes = $0 }
        try connection.write(
            PostgreSQLSnapshot.deletions,
            zone.parameters + [.integer(after), .integer(Int64(feed.limit))]
        ) { answers.deletions = $0 }
    }

    /// Whether a row was asked for, whose answer comes with the others.
    func has(_ table: Table, _ index: Table.Index, _ keys: [[ColumnValue]]) -> Bool {
        guard !self.sent.isEmpty, keys.count == 1 else { return false }
        return self.sent.contains(RowKey(table, index, keys[0]))
    }

    /// A row that came, or that there is none; `nil` if it was not asked for.
    func row(of table: Table, by index: Table.Index, _ keys: [[ColumnValue]]) -> [ColumnValue]?? {
        self.answers.rows[RowKey(table, index, keys[0])]
    }

    func changes(after position: Int64, in zone: ZoneKey) -> ChangedRecords? {
        guard position == self.after, zone == self.zone else { return nil }
        return self.answers.changes.map { ChangedRecords($0) }
    }

    func deletions(after position: Int64, in zone: ZoneKey) -> ResultRows? {
        guard position == self.after, zone == self.zone else { return nil }
        return self.answers.deletions
    }
}
