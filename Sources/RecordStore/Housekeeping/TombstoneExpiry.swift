import StorageContract

/// Removes tombstones that are older than the operator wants them kept, in pieces, and then the
/// membership changes that no token is good for any more.
///
/// A pass goes through all zones and databases once an hour; within each in the order of positions,
/// up to the first that is young enough. Membership changes go last: how far they may go is how far
/// the tombstones are gone.
struct TombstoneExpiry: Sendable {
    private enum Stage {
        case records(after: ZoneKey?)
        case zones(after: DatabaseID?)
        case memberships(after: ZoneKey?)
    }

    private static let passEveryMilliseconds: Int64 = 3_600_000
    /// Maximum number of rows that one transaction removes, and of zones or databases that it
    /// reads.
    static let rowsMax = 200
    private static let stepsMax = 20

    private let retentionMilliseconds: Int64
    /// `nil` if no pass is under way.
    private var stage: Stage?
    private var nextPassMilliseconds = Int64.min

    init(retentionSeconds: Int) {
        self.retentionMilliseconds = Int64(retentionSeconds) * 1_000
    }

    /// Whether tombstones may be due for removal while no request waits.
    func isWanted(nowMilliseconds now: Int64) -> Bool {
        self.stage != nil || now >= self.nextPassMilliseconds
    }

    /// Removes some.
    mutating func step(
        nowMilliseconds now: Int64,
        in transaction: some HousekeepingTransaction
    ) throws(StorageFailure) {
        guard self.isWanted(nowMilliseconds: now) else { return }
        if self.stage == nil {
            self.stage = .records(after: nil)
            self.nextPassMilliseconds = now + Self.passEveryMilliseconds
        }
        for _ in 0..<Self.stepsMax {
            guard let stage = self.stage else { return }
            let removed = try self.step(stage, before: now - self.retentionMilliseconds, in: transaction)
            if removed > 0 { return }
        }
    }

    /// Returns how many were removed.
    private mutating func step(
        _ stage: Stage,
        before time: Int64,
        in transaction: some HousekeepingTransaction
    ) throws(StorageFailure) -> Int {
        // A stage that reached its limit may have more.
        switch stage {
        case .records(let last):
            guard let zone = try transaction.zoneWithTombstones(after: last) else {
                self.stage = .zones(after: nil)
                return 0
            }
            let removed = try transaction.removeTombstones(
                of: zone,
                beforeMilliseconds: time,
                limit: Self.rowsMax
            )
            if removed.count > 0 {
                let rows = transaction.transaction
                try Self.expireTokens(of: zone.database, through: removed.lastPosition, in: rows)
                try Self.count(bytes: removed.bytes, of: zone, in: rows)
            }
            if removed.count < Self.rowsMax { self.stage = .records(after: zone) }
            return removed.count
        case .zones(let last):
            guard let database = try Self.databaseWithZoneTombstones(after: last, transaction.transaction)
            else {
                self.stage = .memberships(after: nil)
                return 0
            }
            let removed = try Self.removeZoneTombstones(
                of: database,
                before: time,
                in: transaction.transaction
            )
            if removed < Self.rowsMax { self.stage = .zones(after: database) }
            return removed
        case .memberships(let last):
            guard let zone = try Self.zoneWithMembershipChanges(after: last, transaction.transaction) else {
                self.stage = nil
                return 0
            }
            let removed = try Self.removeMembershipChanges(of: zone, in: transaction.transaction)
            if removed < Self.rowsMax { self.stage = .memberships(after: zone) }
            return removed
        }
    }

    /// Notes that tombstones are gone up to a position: tokens of before it have expired.
    private static func expireTokens(
        of database: DatabaseID,
        through position: Int64,
        in rows: any WriteTransaction
    ) throws(StorageFailure) {
        guard var row = try rows.row(DatabaseRow.byKey, database),
            position > row.tombstonesGoneThrough
        else { return }
        row.tombstonesGoneThrough = position
        try rows.put(row)
    }

    /// Counts what was removed of a zone that is there: a deleted one counts as a whole until it is
    /// swept.
    private static func count(
        bytes: Int,
        of zone: ZoneKey,
        in rows: any WriteTransaction
    ) throws(StorageFailure) {
        guard try rows.row(ZoneRow.byNumber, zone.database, zone.number) != nil else { return }
        rows.count(rowBytes: -bytes, in: zone)
    }

    // MARK: Zones

    private static func databaseWithZoneTombstones(
        after database: DatabaseID?,
        _ rows: any WriteTransaction
    ) throws(StorageFailure) -> DatabaseID? {
        var behind = RowRange(ZoneTombstoneRow.byKey)
        if let database { behind = behind.after(database) }
        return try rows.rows(behind, limit: 1).first?.database
    }

    private static func removeZoneTombstones(
        of database: DatabaseID,
        before time: Int64,
        in rows: any WriteTransaction
    ) throws(StorageFailure) -> Int {
        let range = RowRange(ZoneTombstoneRow.byKey, database)
        let old = try rows.rows(range, limit: Self.rowsMax).prefix { $0.deletedMilliseconds < time }
        guard let last = old.last else { return 0 }
        try rows.delete(range, limit: old.count)
        try self.expireTokens(of: database, through: last.position, in: rows)
        let bytes = old.reduce(0) { $0 + RowBytes.zoneTombstone(named: $1.name) }
        rows.count(rowBytes: -bytes, in: database)
        return old.count
    }

    // MARK: Membership changes

    private static func zoneWithMembershipChanges(
        after zone: ZoneKey?,
        _ rows: any WriteTransaction
    ) throws(StorageFailure) -> ZoneKey? {
        var behind = RowRange(MembershipChangeRow.byKey)
        if let zone { behind = behind.after(zone.database, zone.number) }
        return try rows.rows(behind, limit: 1).first.map {
            ZoneKey(database: $0.database, number: $0.zone)
        }
    }

    private static func removeMembershipChanges(
        of zone: ZoneKey,
        in rows: any WriteTransaction
    ) throws(StorageFailure) -> Int {
        let gone = try rows.row(DatabaseRow.byKey, zone.database)?.tombstonesGoneThrough ?? 0
        let range = RowRange(MembershipChangeRow.byKey, zone.database, zone.number)
        let old = try rows.rows(range, limit: Self.rowsMax).prefix { $0.position <= gone }
        guard !old.isEmpty else { return 0 }
        try rows.delete(range, limit: old.count)
        let bytes = old.reduce(0) { $0 + RowBytes.coverChange(named: $1.name) }
        try self.count(bytes: bytes, of: zone, in: rows)
        return old.count
    }
}
