import RecordModel
import StorageContract

/// The changes in the history of one zone that go.
struct PastRemoval {
    /// Changes that one transaction removes.
    static let rowsMax = 200
    /// Changes that are read together: a body takes up to a mebibyte.
    private static let readMax = 20
    /// Bodies that one transaction reads.
    private static let bytesMax = 4 << 20

    private let transaction: any WriteTransaction
    private let zone: ZoneKey
    /// `nil` if all go.
    private let begin: PastZoneRow?
    private let oldestMilliseconds: Int64
    /// A deleted zone is the sweep's, which takes all of it.
    private let isSwept: Bool

    init(of zone: ZoneKey, in transaction: any WriteTransaction) throws(StorageFailure) {
        self.transaction = transaction
        self.zone = zone
        self.isSwept = try transaction.row(ZoneRow.byNumber, zone.database, zone.number) == nil
        let begin = try transaction.row(PastZoneRow.byKey, zone.database, zone.number)
        let environment = try transaction.row(DatabaseRow.byKey, zone.database)?.environment
        let history = try environment.flatMap { (environment) throws(StorageFailure) in
            try transaction.history(of: environment)
        }
        guard let history, let begin, begin.life == history.life else {
            self.begin = nil
            self.oldestMilliseconds = .max
            return
        }
        self.begin = begin
        self.oldestMilliseconds = history.oldestMilliseconds(now: transaction.nowMilliseconds)
    }

    /// Removes a piece.
    ///
    /// - Returns: Whether there may be more.
    func removeSome() throws(StorageFailure) -> Bool {
        guard !self.isSwept else { return false }
        var count = 0
        var bytes = 0
        while count < Self.rowsMax, bytes < Self.bytesMax {
            let range = RowRange(PastRow.byKey, self.zone.database, self.zone.number)
            let some = try self.transaction.rows(range, limit: Self.readMax)
            let old = some.prefix { self.isToGo($0) }
            if !old.isEmpty { try self.remove(Array(old)) }
            guard old.count == Self.readMax else {
                try self.finish(isEmpty: old.count == some.count)
                return false
            }
            count += old.count
            bytes += old.reduce(0) { $0 + $1.body.count }
        }
        return true
    }

    private func isToGo(_ row: PastRow) -> Bool {
        guard let begin else { return true }
        return row.position <= begin.since || row.changedMilliseconds < self.oldestMilliseconds
    }

    private func remove(_ rows: [PastRow]) throws(StorageFailure) {
        for row in rows where row.before != nil {
            try self.transaction.removeUses(by: .past(at: row.position, in: self.zone))
        }
        let range = RowRange(PastRow.byKey, self.zone.database, self.zone.number)
        try self.transaction.delete(range, limit: rows.count)
        let bytes = rows.reduce(0) { $0 + RowBytes.past($1) }
        self.transaction.count(rowBytes: -bytes, in: self.zone)
        guard var begin, let last = rows.last, last.position > begin.since else { return }
        // The state behind the last change that went is the earliest that is known.
        let stored = try self.transaction.row(PastZoneRow.byKey, begin.database, begin.zone)
        begin.since = last.position
        begin.sinceMilliseconds = max(
            stored?.sinceMilliseconds ?? begin.sinceMilliseconds,
            last.changedMilliseconds
        )
        try self.transaction.put(begin)
    }

    /// Removes where the history begins, when it is over and nothing of it is left.
    private func finish(isEmpty: Bool) throws(StorageFailure) {
        guard isEmpty, self.begin == nil else { return }
        try self.transaction.delete(
            RowRange(PastZoneRow.byKey, self.zone.database, self.zone.number)
        )
        self.transaction.knowledge.pastZones[self.zone] = nil
    }
}
