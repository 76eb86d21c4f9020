import StorageContract

/// The pace at which stale changes are taken out of the order of changes.
///
/// A transaction only appends. The changes that it makes stale are taken out much later, together
/// with those of many others: an engine that keeps changes in blocks rewrites a block once for all of it.
enum StaleChangePace {
    /// The number of waiting changes that begins a round: fewer would rewrite each block for fewer
    /// of its changes.
    static let roundMinBusy = 32_768
    static let roundMinAlone = 4_096
    /// Bounds the memory of a round.
    static let roundMax = 262_144
    /// Pieces of the order that one transaction reads: about 2 ms.
    static let readsMax = 400

    /// Whether there is enough to do for a transaction without requests.
    static func isWorthwhile(_ changes: StaleChanges) -> Bool {
        self.isWorthwhile(changes, roundMin: self.roundMinAlone)
    }

    private static func isWorthwhile(_ changes: StaleChanges, roundMin: Int) -> Bool {
        // Changes that were not counted may be enough for a round while no request waits.
        let waiting = changes.waiting + (changes.mayBeMore ? self.roundMinAlone : 0)
        return changes.isInRound || waiting >= roundMin
    }

    /// Goes on with the round or, when enough waits, begins one.
    static func step(isAlone: Bool, in rows: some HousekeepingTransaction) throws(StorageFailure) {
        let roundMin = isAlone ? self.roundMinAlone : self.roundMinBusy
        guard self.isWorthwhile(rows.staleChanges, roundMin: roundMin) else { return }
        try rows.removeStaleChanges(roundMax: self.roundMax, readsMax: self.readsMax)
    }
}
