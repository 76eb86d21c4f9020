import StorageContract

/// Rows that a deleted zone leaves, by kind.
enum SweptRows: Hashable, Sendable {
    /// The rows about assets that records name.
    case assetUses
    /// The history.
    case past
    case undeclared(UndeclaredRows)
    case membershipChanges
    case shareTokens
    case tokenExpiries
    /// Progress of installations in the zone.
    case installations

    /// All kinds, in the order in which they go.
    ///
    /// Entries go after the records, or the builder of an index might add some that no sweep
    /// removes.
    static let order: [SweptRows] =
        [.assetUses, .past] + UndeclaredRows.allCases.map { .undeclared($0) }
        + [.membershipChanges, .shareTokens, .tokenExpiries, .installations]

    /// Maximum number of rows that one transaction removes.
    var limit: Int {
        switch self {
        // They are small, and a record has several.
        case .undeclared(.entries): 1_000
        // They carry bodies.
        case .past: 20
        default: 200
        }
    }
}

/// Removes what deleted zones and shares left, and histories that gave way, a piece in each
/// transaction.
///
/// Nothing of it is visible: a zone's number is never used again, and a membership of a share that is
/// gone means nothing.
enum ZoneSweep {
    /// Memberships that one transaction removes.
    static let membershipsMax = 1_000

    /// Removes one piece.
    ///
    /// - Returns: Whether there was anything left.
    static func step(
        in transaction: some HousekeepingTransaction,
        membershipsMax: Int = membershipsMax
    ) throws(StorageFailure) -> Bool {
        let tables = transaction.transaction
        if try self.removeMemberships(in: tables, limit: membershipsMax) { return true }
        if try self.removePast(in: tables) { return true }
        guard let swept = try tables.rows(RowRange(SweepRow.byKey), limit: 1).first else { return false }
        let zone = ZoneKey(database: swept.database, number: swept.zone)
        for rows in SweptRows.order {
            if try self.remove(rows, of: zone, in: transaction) > 0 { return true }
        }
        try tables.delete(swept)
        // A damaged row must not keep the sweep from going on.
        let bytes = (try? swept.bytes.counted()) ?? 0
        tables.count(rowBytes: Int(-bytes), in: swept.database)
        return true
    }

    /// Returns how many were removed.
    private static func remove(
        _ rows: SweptRows,
        of zone: ZoneKey,
        in transaction: some HousekeepingTransaction
    ) throws(StorageFailure) -> Int {
        let tables = transaction.transaction
        let (database, number, limit) = (zone.database, zone.number, rows.limit)
        switch rows {
        case .assetUses: return try tables.removeUses(inZone: zone, limit: limit)
        case .past:
            try tables.delete(RowRange(PastZoneRow.byKey, database, number))
            return try tables.delete(RowRange(PastRow.byKey, database, number), limit: limit)
        case .membershipChanges:
            return try tables.delete(RowRange(MembershipChangeRow.byKey, database, number), limit: limit)
        case .shareTokens:
            return try tables.delete(RowRange(ShareTokenRow.byRoot, database, number), limit: limit)
        case .tokenExpiries:
            return try tables.delete(RowRange(TokenExpiryRow.byKey, database, number), limit: limit)
        case .installations:
            return try tables.delete(RowRange(InstallationSeenRow.byKey, database, number), limit: limit)
        case .undeclared(let rows): return try transaction.remove(rows, of: zone, limit: limit)
        }
    }

    /// Removes changes of one zone that begins its history anew, and the zone's `PastRemovalRow`
    /// when no such change is left.
    private static func removePast(in rows: any WriteTransaction) throws(StorageFailure) -> Bool {
        guard let removal = try rows.rows(RowRange(PastRemovalRow.byKey), limit: 1).first else {
            return false
        }
        let isMore = try PastRemoval(of: removal.key, in: rows).removeSome()
        if !isMore { try rows.delete(removal) }
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
