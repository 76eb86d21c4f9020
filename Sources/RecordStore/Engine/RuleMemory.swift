/// Knowledge of rules about tables that lasts from one transaction to the next.
///
/// Rules fill it from rows that they read, and update it with rows that they write. An engine does
/// not interpret it. It gives a transaction the memory of the one before, if no other process wrote
/// in between and no transaction was rolled back. Otherwise it gives an empty one, which costs a
/// few reads.
package final class RuleMemory {
    var shares: [ZoneKey: ZoneShares] = [:]
    /// Whether URLs lead into a zone; they may have gone meanwhile.
    var zonesWithTokens: [ZoneKey: Bool] = [:]
    /// Shares that have a row in `ShareNewsRow.table`, with the origin in it.
    var sharesWithChanges: [ShareNumber: ChangeOrigin?] = [:]
    /// Histories that containers keep, by environment; `nil` if they have not been read.
    var histories: [EnvironmentID: HistoryRule]?
    /// Zones with a history that has begun, and when their container began to keep one.
    var pastZones: [ZoneKey: Int64] = [:]
    /// The number of outcomes of requests that were stored since housekeeping last expired
    /// outcomes.
    var outcomesStored = 0

    package init() {}

    /// The number of entries, for engines that bound their memory.
    package var count: Int {
        self.shares.count + self.zonesWithTokens.count + self.sharesWithChanges.count
            + self.pastZones.count
    }
}
