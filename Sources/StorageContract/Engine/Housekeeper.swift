/// Work that may be done at any time, in pieces: which rows, how many at a time, in which order.
///
/// The rules bring it, and an engine makes one from its configuration and asks it from one thread. A
/// step belongs at the end of a transaction that the engine commits for requests, so that
/// housekeeping costs no commit of its own. While no request waits, more steps go into transactions
/// of their own. A step that fails may be rolled back without effect on requests, and is tried
/// again.
package protocol Housekeeper: AnyObject {
    /// The number of milliseconds until the next step if no request comes meanwhile; on a full
    /// disk, until a step that frees space.
    ///
    /// A caller that has waited for this time need not ask again.
    ///
    /// - Returns: `nil` if nothing is to be done, as far as is known.
    func milliseconds(
        untilStepFrom now: Int64,
        onFullDisk isFull: Bool,
        knowing known: any HousekeepingKnowledge
    ) -> Int64?

    /// Whether a step may be due because time has passed.
    func isDue(nowMilliseconds now: Int64) -> Bool

    /// Does a piece of each kind of work; on a full disk, of what makes room.
    ///
    /// A piece is larger while no request waits for the transaction.
    func step(
        isAlone: Bool,
        onFullDisk isFull: Bool,
        in rows: any HousekeepingTransaction
    ) throws(StorageFailure)

    /// Brings some shared databases up to date, and does nothing else: for a server that changes
    /// shared zones while another one keeps house.
    ///
    /// - Returns: Whether there may be more.
    func followSharedZones(
        isAlone: Bool,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> Bool

    /// The time to wait with `followSharedZones` if nothing else is to be done.
    func milliseconds(untilFollowingFrom now: Int64) -> Int64

    /// Hands out what to tell an operator after a commit.
    func takeEvents() -> [EngineEvent]
}

/// Makes the housekeeper of an engine, on the thread that asks it.
package typealias MakeHousekeeper = @Sendable () -> any Housekeeper
