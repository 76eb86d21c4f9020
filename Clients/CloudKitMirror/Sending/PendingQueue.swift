internal import CloudKit
internal import Foundation
internal import GRDB
internal import RecordModel

/// The pending changes in the order in which they are sent.
///
/// A request has whole transactions, and is atomic. A record that was changed in several
/// transactions joins these and all between them. Transactions that do not fit into a request
/// become one, with positions: it is sent in parts, and no part is atomic.
struct PendingQueue {
    /// A pending change, with what is sent for it.
    struct Change {
        enum Content {
            /// The record, and the indices of its columns that are sent.
            case save(CKRecord, [Int], RowValues)
            /// The record's ID, and its change tag as far as it is known.
            case delete(CKRecord.ID, tag: String?)
        }

        let key: RecordKey
        let type: String
        let first: Int64
        let last: Int64
        let hasPosition: Bool
        let content: Content

        var bytesEstimate: Int {
            switch self.content {
            case .save(let record, _, _): record.saveBytesEstimate
            case .delete(let id, _): id.bytesEstimate
            }
        }
    }

    /// The changes of a request.
    struct Batch {
        var changes: [Change]
        var isAtomic: Bool
    }

    /// The request around its items.
    private static let envelopeBytes = 1_024

    let store: RowStore
    /// The names of zones, by number.
    let zones: [Int64: String]

    private var database: Database { self.store.database }

    /// Takes the next batch, and notes its values as sent.
    ///
    /// - Returns: The batch; `nil` if nothing waits.
    func take() throws -> Batch? {
        while true {
            let rows = try self.rows()
            guard !rows.isEmpty else { return nil }
            let isAll = rows.count <= Bounds.defaults.requestItemsMax
            let changes = try rows.compactMap { try self.change($0) }
            // Changes that cancel each other are settled by now, and others may be next.
            if changes.count < rows.count, !isAll || changes.isEmpty { continue }
            guard let batch = Self.cut(changes, isAll: isAll) else {
                try self.split(changes[0].first)
                continue
            }
            for change in batch.changes { try self.noteSent(change) }
            return batch
        }
    }

    /// Chooses the changes of a request; `nil` if the first transactions do not fit into one.
    static func cut(
        _ changes: [Change],
        isAll: Bool,
        countMax: Int = Bounds.defaults.requestItemsMax,
        bytesMax: Int = Bounds.defaults.requestBytesMax
    ) -> Batch? {
        var bytes = Self.envelopeBytes
        var last: Int64 = 0
        var cut: Int?
        let isInParts = changes.first?.hasPosition ?? false
        for (index, change) in changes.enumerated() {
            bytes += change.bytesEstimate
            // A record that is too large by itself is refused by the server.
            guard index < countMax, bytes <= bytesMax || index == 0 else { break }
            if isInParts {
                guard change.hasPosition, change.first == changes[0].first else { break }
                cut = index + 1
                continue
            }
            last = max(last, change.last)
            let next = index + 1
            let isEnd = next < changes.count ? changes[next].first > last : isAll
            if isEnd { cut = next }
        }
        return cut.map { Batch(changes: Array(changes[..<$0]), isAtomic: !isInParts) }
    }

    private struct PendingRow {
        let key: RecordKey
        let type: String
        let first: Int64
        let last: Int64
        let hasPosition: Bool
    }

    /// The first pending changes, one more than a request takes.
    private func rows() throws -> [PendingRow] {
        let statement = try self.database.cachedStatement(
            sql: """
                SELECT zone, name, type, first_transaction, last_transaction, position
                FROM tidemark_pending WHERE error_code IS NULL
                ORDER BY first_transaction, position, rowid LIMIT ?
                """
        )
        return try Row.fetchAll(statement, arguments: [Bounds.defaults.requestItemsMax + 1]).map {
            PendingRow(
                key: RecordKey(zone: $0["zone"], name: $0["name"]),
                type: $0["type"],
                first: $0["first_transaction"],
                last: $0["last_transaction"],
                hasPosition: $0["position"] != nil
            )
        }
    }

    /// Returns what is to be sent of a pending change; `nil` if nothing, and then it is settled.
    private func change(_ row: PendingRow) throws -> Change? {
        let key = row.key
        guard let statements = self.store.statements(of: row.type), let zone = self.zones[key.zone] else {
            try self.store.settle(key)
            return nil
        }
        let id = CKRecord.ID(recordName: key.name, zoneID: CKRecordZone.ID(zoneName: zone))
        let table = statements.table
        let known = try self.store.ancestor(key)
        let ancestor = known?.type == row.type ? known?.record : nil
        func change(_ content: Change.Content) -> Change {
            Change(
                key: key,
                type: row.type,
                first: row.first,
                last: row.last,
                hasPosition: row.hasPosition,
                content: content
            )
        }
        let sent = try self.store.sent(key)
        guard let values = try statements.row(self.database, key) else {
            if ancestor != nil || !sent.isEmpty {
                return change(.delete(id, tag: ancestor?.recordChangeTag))
            }
            try self.store.settle(key)
            return nil
        }
        guard let ancestor else {
            let record = CKRecord(recordType: row.type, recordID: id)
            let columns = values.indices.filter { !values[$0].isNull }
            table.set(columns, of: values, in: record)
            return change(.save(record, columns, values))
        }
        let columns = Merge.changes(
            of: values,
            since: table.values(of: ancestor),
            sent: try self.store.sent(key, of: table)
        )
        guard !columns.isEmpty else {
            try self.store.settle(key)
            return nil
        }
        table.set(columns, of: values, in: ancestor)
        return change(.save(ancestor, columns, values))
    }

    private func noteSent(_ change: Change) throws {
        switch change.content {
        case .delete: try self.store.noteSent(change.key, "", .null)
        case .save(_, let columns, let values):
            let names = self.store.statements(of: change.type)?.table.ownColumns ?? []
            for column in columns { try self.store.noteSent(change.key, names[column], values[column]) }
        }
    }

    // MARK: Transactions that do not fit

    /// Makes one of the first transactions, as far as they are joined, and gives it positions.
    func split(_ first: Int64) throws {
        var last = first
        while true {
            let joined = try Int64.fetchOne(
                self.database,
                sql: """
                    SELECT max(last_transaction) FROM tidemark_pending
                    WHERE error_code IS NULL AND first_transaction <= ?
                    """,
                arguments: [last]
            )
            guard let joined, joined > last else { break }
            last = joined
        }
        let rows = try Row.fetchAll(
            self.database,
            sql: """
                SELECT zone, name, type FROM tidemark_pending
                WHERE error_code IS NULL AND first_transaction <= ? ORDER BY first_transaction, rowid
                """,
            arguments: [last]
        )
        var saves: [RecordKey] = []
        var deletions: [RecordKey] = []
        var needs: [RecordKey: [RecordKey]] = [:]
        for row in rows {
            let key = RecordKey(zone: row["zone"], name: row["name"])
            guard let statements = self.store.statements(of: row["type"]) else { continue }
            let table = statements.table
            if let values = try statements.row(self.database, key) {
                saves.append(key)
                needs[key] = table.references(of: values).map { RecordKey(zone: key.zone, name: $0) }
            } else {
                deletions.append(key)
                guard let record = try self.store.ancestor(key)?.record else { continue }
                // A record is deleted after those that refer to it.
                for name in table.references(of: table.values(of: record)) {
                    needs[RecordKey(zone: key.zone, name: name), default: []].append(key)
                }
            }
        }
        let order =
            DependencyOrder.sorted(saves, needs: needs) + DependencyOrder.sorted(deletions, needs: needs)
        for (position, key) in order.enumerated() {
            try self.store.execute(
                """
                UPDATE tidemark_pending SET first_transaction = ?, last_transaction = ?, position = ?
                WHERE zone = ? AND name = ?
                """,
                [first, last, position + 1, key.zone, key.name]
            )
        }
    }
}

extension MirrorTable {
    /// The record names that a row refers to, as its parent or in a reference.
    fileprivate func references(of values: RowValues) -> [String] {
        values.enumerated().compactMap { index, value in
            guard index == 0 || self.columns[index - 1].kind == .reference else { return nil }
            return String.fromDatabaseValue(value)
        }
    }
}
