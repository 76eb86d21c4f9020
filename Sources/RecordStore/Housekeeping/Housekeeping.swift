/// The operator's choices for housekeeping.
package struct HousekeepingRules: Hashable, Sendable {
    /// The time for which the outcome of a request is kept.
    package var requestIDRetentionSeconds = 3_600
    /// The time for which feeds know of deletions: older tokens have expired.
    package var tombstoneRetentionSeconds = 31_536_000

    package init() {}
}

/// Work that may be done at any time, in pieces: which rows, how many at a time, in which order.
///
/// An engine has one, and asks it from one thread. A step belongs at the end of a transaction that
/// the engine commits for requests, so that housekeeping costs no commit of its own. While no
/// request waits, more steps go into transactions of their own. A step that fails may be rolled
/// back without effect on requests, and is tried again.
package final class Housekeeping {
    private let rules: HousekeepingRules
    private var views = ViewPace()
    private var indexes = IndexBuilder()
    private var tombstones: TombstoneExpiry
    private var outcomes = OutcomeExpiry()
    private var past = PastExpiry()

    package init(_ rules: HousekeepingRules) {
        self.rules = rules
        self.tombstones = TombstoneExpiry(retentionSeconds: rules.tombstoneRetentionSeconds)
    }

    /// The number of milliseconds until the next step if no request comes meanwhile; on a full
    /// disk, until a step that frees space.
    ///
    /// A caller that has waited for this time need not ask again.
    ///
    /// - Returns: `nil` if nothing is to be done, as far as is known.
    package func milliseconds(
        untilStepFrom now: Int64,
        onFullDisk isFull: Bool,
        knowing known: some HousekeepingKnowledge
    ) -> Int64? {
        if known.mayHave(.sweep) || (known.mayHave(.indexes) && !isFull)
            || StaleChangePace.isWorthwhile(known.staleChanges) || self.isDue(nowMilliseconds: now)
        {
            return 0
        }
        guard known.mayHave(.views), !isFull else { return nil }
        return self.views.milliseconds(untilStepFrom: now)
    }

    /// Whether a step may be due because time has passed.
    package func isDue(nowMilliseconds now: Int64) -> Bool {
        self.tombstones.isWanted(nowMilliseconds: now) || self.outcomes.isWanted(nowMilliseconds: now)
            || self.past.isWanted(nowMilliseconds: now)
    }

    /// Does a piece of each kind of work; on a full disk, of what makes room.
    ///
    /// A piece is larger while no request waits for the transaction.
    package func step(
        isAlone: Bool,
        onFullDisk isFull: Bool,
        in rows: some HousekeepingTransaction
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

    /// Brings some shared databases up to date, and does nothing else: for a server that changes shared
    /// zones while another one keeps house.
    ///
    /// - Returns: Whether there may be more.
    package func followSharedZones(
        isAlone: Bool,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> Bool {
        try self.views.step(isAlone: isAlone, in: transaction)
    }

    /// The time to wait with `followSharedZones` if nothing else is to be done.
    package func milliseconds(untilFollowingFrom now: Int64) -> Int64 {
        self.views.milliseconds(untilStepFrom: now)
    }

    /// Hands out what to tell an operator after a commit.
    package func takeEvents() -> [EngineEvent] { self.indexes.takeEvents() }
}
