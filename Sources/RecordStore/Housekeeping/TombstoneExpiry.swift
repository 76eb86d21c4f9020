/// Removes tombstones that are older than the operator wants them kept, in pieces, and then the
/// membership changes that no token is good for any more.
///
/// A pass goes through all zones and databases once an hour; within each in the order of positions,
/// up to the first that is young enough. Membership changes go last: how far they may go is how far
/// the tombstones are gone.
package struct TombstoneExpiry: Sendable {
    private enum Stage {
        case records(after: ZoneKey?)
        case zones(after: DatabaseID?)
        case memberships(after: ZoneKey?)
    }

    private static let passEveryMilliseconds: Int64 = 3_600_000
    /// Rows that one transaction removes, and zones or databases that it looks at.
    static let rowsMax = 200
    private static let stepsMax = 20

    private let retentionMilliseconds: Int64
    /// `nil` if no pass is under way.
    private var stage: Stage?
    private var nextPassMilliseconds = Int64.min

    package init(retentionSeconds: Int) {
        self.retentionMilliseconds = Int64(retentionSeconds) * 1_000
    }

    /// Whether there may be something to do while nobody waits.
    package func isWanted(nowMilliseconds now: Int64) -> Bool {
        self.stage != nil || now >= self.nextPassMilliseconds
    }

    /// Removes some.
    package mutating func step(
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
        // What is full may have more.
        switch stage {
        case .records(let last):
            guard let zone = try transaction.zone(with: .tombstones, after: last) else {
                self.stage = .zones(after: nil)
                return 0
            }
            let removed = try transaction.remove(
                .tombstones,
                of: zone,
                beforeMilliseconds: time,
                limit: Self.rowsMax
            )
            if removed < Self.rowsMax { self.stage = .records(after: zone) }
            return removed
        case .zones(let last):
            guard let database = try transaction.databaseWithZoneTombstones(after: last) else {
                self.stage = .memberships(after: nil)
                return 0
            }
            let removed = try transaction.removeZoneTombstones(
                of: database,
                beforeMilliseconds: time,
                limit: Self.rowsMax
            )
            if removed < Self.rowsMax { self.stage = .zones(after: database) }
            return removed
        case .memberships(let last):
            guard let zone = try transaction.zone(with: .membershipChanges, after: last) else {
                self.stage = nil
                return 0
            }
            let removed = try transaction.remove(
                .membershipChanges,
                of: zone,
                beforeMilliseconds: time,
                limit: Self.rowsMax
            )
            if removed < Self.rowsMax { self.stage = .memberships(after: zone) }
            return removed
        }
    }
}
