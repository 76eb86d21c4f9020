import StorageContract

/// The rules' knowledge of tables, in the memory that an engine keeps for them.
final class RuleKnowledge: RuleMemoryContents {
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

    var count: Int {
        self.shares.count + self.zonesWithTokens.count + self.sharesWithChanges.count
            + self.pastZones.count
    }
}

extension WriteTransaction {
    var knowledge: RuleKnowledge {
        let memory = self.memory
        if let known = memory.contents as? RuleKnowledge { return known }
        let knowledge = RuleKnowledge()
        memory.contents = knowledge
        return knowledge
    }
}
