package import StorageContract

/// The operator's choices for housekeeping.
package struct HousekeepingRules: Hashable, Sendable {
    /// The time for which the outcome of a request is kept.
    package var requestIDRetentionSeconds = 3_600
    /// The time for which feeds know of deletions: older tokens have expired.
    package var tombstoneRetentionSeconds = 31_536_000

    package init() {}
}

/// The housekeeping of a store: every kind of work in turn.
package final class Housekeeping: Housekeeper {
    private let rules: HousekeepingRules
    private var views = ViewPace()
    private var indexes = IndexBuilder()
    private var tombstones: TombstoneExpiry
    private var outcomes = OutcomeExpiry()
    private var past = PastExpiry()

    /// Makes housekeeping by these rules, for the configuration of an engine.
    package static func maker(_ rules: HousekeepingRules = HousekeepingRules()) -> MakeHousekeeper {
        { Housekeeping(rules) }
    }

    package init(_ rules: HousekeepingRules) {
        self.rules = rules
        self.tombstones = TombstoneExpiry(retentionSeconds: rules.tombstoneRetentionSeconds)
    }

    package func milliseconds(
        untilStepFrom now: Int64,
        onFullDisk isFull: Bool,
        knowing known: any HousekeepingKnowledge
    ) -> Int64? {
        if known.mayHave(.sweep) || (known.mayHave(.indexes) && !isFull)
            || StaleChangePace.isWorthwhile(known.staleChanges) || self.isDue(nowMilliseconds: now)
        {
            return 0
        }
        guard known.mayHave(.views), !isFull else { return nil }
        return self.views.milliseconds(untilStepFrom: now)
    }

    package func isDue(nowMilliseconds now: Int64) -> Bool {
        self.tombstones.isWanted(nowMilliseconds: now) || self.outcomes.isWanted(nowMilliseconds: now)
            || self.past.isWanted(nowMilliseconds: now)
    }

    package func step(
        isAlone: Bool,
        onFullDisk isFull: Bool,
        in rows: any HousekeepingTransaction
    ) throws(StorageFailure) {
        let transaction = rows.transaction
        let now = transaction.nowMilliseconds
        if !isFull, rows.mayHave(.views) {
            let mayBeMore = try self.views.step(isAlone: isAlone, in: transaction)
            if !mayBeMore { rows.finished(.views) }
        }
        if rows.mayHave(.sweep) {
            let wasAny = try ZoneSweep.step(in: rows)
            if !wasAny { rows.finished(.sweep) }
        }
        if !isFull, rows.mayHave(.indexes) {
            let isBuilt = try self.indexes.step(isAlone: isAlone, in: rows)
            let isRemoved = try IndexRemoval.step(in: rows)
            if isBuilt, isRemoved { rows.finished(.indexes) }
        }
        try StaleChangePace.step(isAlone: isAlone, in: rows)
        try self.tombstones.step(nowMilliseconds: now, in: rows)
        try self.outcomes.step(
            olderThanMilliseconds: WriteRules.oldestRequestMilliseconds(
                now: now,
                retentionSeconds: self.rules.requestIDRetentionSeconds
            ),
            in: transaction
        )
        try self.past.step(nowMilliseconds: now, in: transaction)
    }

    package func followSharedZones(
        isAlone: Bool,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> Bool {
        try self.views.step(isAlone: isAlone, in: transaction)
    }

    package func milliseconds(untilFollowingFrom now: Int64) -> Int64 {
        self.views.milliseconds(untilStepFrom: now)
    }

    package func takeEvents() -> [EngineEvent] { self.indexes.takeEvents() }
}
