import RecordModel
import StorageContract

/// Removes changes from the histories of zones: those that are too old or before the beginning of a
/// history, and all of a container that no longer keeps one.
///
/// A pass goes through all zones with changes once an hour. Within a zone it goes in the order of
/// positions, up to the first change that stays.
struct PastExpiry: Sendable {
    private static let passEveryMilliseconds: Int64 = 3_600_000
    /// Maximum number of zones that one transaction reads.
    private static let zonesMax = 20

    /// The zone that was read last, and whether it may have more.
    private var zone: ZoneKey?
    private var isPassing = false
    private var nextPassMilliseconds = Int64.min

    /// Whether history may be due for removal while no request waits.
    func isWanted(nowMilliseconds now: Int64) -> Bool {
        self.isPassing || now >= self.nextPassMilliseconds
    }

    /// Removes some.
    mutating func step(
        nowMilliseconds now: Int64,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) {
        guard self.isWanted(nowMilliseconds: now) else { return }
        if now >= self.nextPassMilliseconds {
            self.isPassing = true
            self.zone = nil
            self.nextPassMilliseconds = now + Self.passEveryMilliseconds
        }
        for _ in 0..<Self.zonesMax {
            var behind = RowRange(PastRow.byKey)
            if let zone { behind = behind.after(zone.database, zone.number) }
            guard let next = try transaction.rows(behind, limit: 1).first else {
                self.isPassing = false
                return
            }
            let zone = ZoneKey(database: next.database, number: next.zone)
            guard try PastRemoval(of: zone, in: transaction).removeSome() else {
                self.zone = zone
                continue
            }
            return
        }
    }
}
