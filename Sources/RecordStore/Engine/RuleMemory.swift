/// Knowledge of rules about tables that lasts from one transaction to the next.
///
/// Rules fill it from what they read, and keep it in step with what they write. An engine gives no
/// meaning to it. It gives a transaction the memory of the one before, if nobody else wrote in
/// between and nothing was taken back; else it gives an empty one, which costs a few reads.
package final class RuleMemory {
    var shares: [ZoneKey: ZoneShares] = [:]
    /// Whether URLs lead into a zone; they may have gone meanwhile.
    var zonesWithTokens: [ZoneKey: Bool] = [:]
    /// Shares that have a row in `ShareNewsRow.table`, with the origin in it.
    var sharesWithNews: [ShareNumber: ChangeOrigin?] = [:]
    /// Histories that containers keep, by environment; `nil` if they have not been read.
    var histories: [EnvironmentID: HistoryRule]?
    /// Zones whose history has begun, with when their container began to keep one.
    var pastZones: [ZoneKey: Int64] = [:]
    /// Outcomes of requests that were stored since housekeeping looked for old ones.
    var outcomesStored = 0

    package init() {}

    /// How much it is, for engines that bound what they keep.
    package var count: Int {
        self.shares.count + self.zonesWithTokens.count + self.sharesWithNews.count
            + self.pastZones.count
    }
}
