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
    package static let membershipsMax = 1_000

    /// Removes one piece.
    ///
    /// - Returns: Whether there was anything left.
    package static func step(
        in transaction: some HousekeepingTransaction,
        membershipsMax: Int = membershipsMax
    ) throws(StorageFailure) -> Bool {
        if try self.removeMemberships(in: transaction.tables, limit: membershipsMax) { return true }
        guard let swept = try transaction.nextSweptZone() else { return false }
        for rows in SweptRows.allCases {
            if try transaction.remove(rows, of: swept.zone, limit: rows.limit) > 0 { return true }
        }
        try transaction.finishSweep(of: swept)
        return true
    }

    /// Removes memberships of one share that is gone, and the share when it has none left.
    private static func removeMemberships(
        in rows: any TableWriter,
        limit: Int
    ) throws(StorageFailure) -> Bool {
        guard let removal = try rows.rows(RowRange(ShareRemovalRow.byKey), limit: 1).first else {
            return false
        }
        let memberships = RowRange(MembershipRow.byShare, removal.share)
        if try rows.delete(memberships, limit: limit) == 0 { try rows.delete(removal) }
        return true
    }
}
