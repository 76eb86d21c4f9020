/// Rows that a deleted zone leaves, by kind, in the order in which they go.
package enum SweptRows: CaseIterable, Sendable {
    /// Which records name which assets.
    case assetUses
    case records
    case tombstones
    case references
    case changes
    /// After the records, or the builder of an index might add some that no sweep removes.
    case entries
    case membershipChanges
    case shareTokens
    case tokenExpiries

    /// How many one transaction removes.
    package var limit: Int {
        switch self {
        // They are small, and a record has several.
        case .entries: 1_000
        default: 200
        }
    }
}

/// Removes what deleted zones and shares left, a piece in each transaction.
///
/// Nothing of it is visible: a zone's number is never used again, and a membership of a share that is
/// gone means nothing.
package enum ZoneSweep {
    /// Memberships that one transaction removes.
    static let membershipsMax = 1_000

    /// Removes one piece.
    ///
    /// - Returns: Whether there was anything left.
    package static func step(
        in transaction: some HousekeepingTransaction
    ) throws(StorageFailure) -> Bool {
        if let share = try transaction.nextRemovedShare() {
            if try transaction.removeMemberships(of: share, limit: self.membershipsMax) == 0 {
                try transaction.finishRemoval(of: share)
            }
            return true
        }
        guard let swept = try transaction.nextSweptZone() else { return false }
        for rows in SweptRows.allCases {
            if try transaction.remove(rows, of: swept.zone, limit: rows.limit) > 0 { return true }
        }
        try transaction.finishSweep(of: swept)
        return true
    }
}
