import StorageContract

/// Puts right what can be put right without any loss, one finding in each transaction.
///
/// A server may be writing. It adds to the stored counters, so a difference that a verification found
/// stays right until it is added.
package struct FindingRepair: Sendable {
    private let engine: any StorageEngine

    package init(_ store: Store) { self.engine = store.engine }

    /// - Returns: How many repairs were made; one may serve several findings.
    package func run(_ findings: [StoreFinding]) throws -> Int {
        var done: Set<StoreFinding.Repair> = []
        for repair in findings.compactMap(\.repair) where done.insert(repair).inserted {
            try self.engine.administer { try Self.make(repair, in: $0) }
        }
        return done.count
    }

    private static func make(
        _ repair: StoreFinding.Repair,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) {
        switch repair {
        case .index(let index): try self.rebuild(index, in: transaction)
        case .zone(let key, let amount, let position):
            guard var row = try transaction.row(ZoneRow.byNumber, key.database, key.number) else { return }
            row.records = row.records &+ amount.records
            row.recordBytes = row.recordBytes &+ amount.recordBytes
            row.rowBytes = row.rowBytes &+ amount.rowBytes
            let end = try transaction.row(DatabaseRow.byKey, key.database)?.position ?? 0
            row.position = min(max(row.position, position), max(end, position))
            try transaction.put(row)
        case .database(let database, let amount, let position):
            try self.add(amount, position: position, to: database, in: transaction)
        case .mirror(let reader, let zone):
            try transaction.put(ViewRefreshRow(reader: reader, zone: zone, origin: nil))
        case .assetGrace(let number):
            guard let row = try transaction.row(AssetRow.byKey, number), row.state == .complete else {
                return
            }
            let isNamed = try transaction.isNamed(number)
            let now = transaction.nowMilliseconds
            try transaction.change(row) { isNamed ? $0.endGrace() : $0.released(at: now) }
        }
    }

    private static func add(
        _ amount: StoredAmount,
        position: Int64,
        to database: DatabaseID,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) {
        guard var row = try transaction.row(DatabaseRow.byKey, database) else { return }
        row.stored.records = row.stored.records &+ amount.records
        row.stored.recordBytes = row.stored.recordBytes &+ amount.recordBytes
        row.stored.assets = row.stored.assets &+ amount.assets
        row.stored.assetBytes = row.stored.assetBytes &+ amount.assetBytes
        row.stored.rowBytes = row.stored.rowBytes &+ amount.rowBytes
        row.position = max(row.position, position)
        try transaction.put(row)
    }

    /// Gives the field of an index a new one, which housekeeping builds while it removes the old one.
    private static func rebuild(
        _ index: Int64,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) {
        var fields: [FieldRow] = []
        try transaction.visit(RowRange(FieldRow.byKey)) { field in
            if field.index == index { fields.append(field) }
        }
        for var field in fields {
            let number = try transaction.takeIndexNumbers(1)
            field.index = number
            try transaction.put(field)
            try transaction.put(IndexBuildRow(index: number, nextRecord: 0))
        }
        try transaction.delete(RowRange(IndexBuildRow.byKey, index))
        try transaction.put(
            IndexRemovalRow(index: index, database: DatabaseID(rawValue: 0), zoneName: "")
        )
    }
}
