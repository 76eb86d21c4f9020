package import RecordModel

/// Reads and removals of housekeeping within one transaction.
///
/// An engine makes the steps of `ZoneSweep`, `TombstoneExpiry` and `OutcomeExpiry` while nobody waits,
/// in transactions of its own, and a few beside requests. So it does with `ViewPace`, and with what
/// indexes need: it adds the entries of earlier records to those that have an `IndexBuildRow`, removes
/// what is left of those that have an `IndexRemovalRow`, and then deletes these rows.
///
/// Each removal takes at most `limit` rows and says how many it took: fewer than the limit means
/// that no more are there. What was removed no longer counts in the usage of its database.
package protocol HousekeepingTransaction: AnyObject {
    /// The rows of declared tables.
    var tables: any TableWriter { get }

    /// A deleted zone of which rows may be left; `nil` if there is none.
    func nextSweptZone() throws(StorageFailure) -> SweptZone?
    func remove(_ rows: SweptRows, of zone: ZoneKey, limit: Int) throws(StorageFailure) -> Int
    /// Forgets a deleted zone of which no rows are left, with the bytes that counted for it.
    func finishSweep(of zone: SweptZone) throws(StorageFailure)

    /// The first database behind another that has outcomes of requests; `nil` behind which: all.
    func databaseWithOutcomes(after database: DatabaseID?) throws(StorageFailure) -> DatabaseID?
    /// Removes outcomes of requests whose IDs are below another, in the order of their bytes.
    func removeOutcomes(
        below bound: RequestID,
        in database: DatabaseID,
        limit: Int
    ) throws(StorageFailure) -> Int

    /// The first zone behind another that has tombstones, or membership changes, of records.
    func zone(with rows: ExpiringRows, after zone: ZoneKey?) throws(StorageFailure) -> ZoneKey?
    /// Removes rows of a zone in the order of their positions.
    ///
    /// Of tombstones those of deletions before a time, up to the first that is younger; the database
    /// notes how far they are gone. Of membership changes those up to which the tombstones of the
    /// database are gone, whatever the time.
    func remove(
        _ rows: ExpiringRows,
        of zone: ZoneKey,
        beforeMilliseconds time: Int64,
        limit: Int
    ) throws(StorageFailure) -> Int
    /// The first database behind another that has tombstones of zones.
    func databaseWithZoneTombstones(after database: DatabaseID?) throws(StorageFailure) -> DatabaseID?
    /// As for tombstones of records.
    func removeZoneTombstones(
        of database: DatabaseID,
        beforeMilliseconds time: Int64,
        limit: Int
    ) throws(StorageFailure) -> Int
}

/// A deleted zone whose rows are still there.
package struct SweptZone: Hashable, Sendable {
    package var zone: ZoneKey
    /// What counts for it in the usage of its database until it is swept.
    package var bytes: Int

    package init(zone: ZoneKey, bytes: Int) {
        self.zone = zone
        self.bytes = bytes
    }
}

/// Rows of a zone that only feeds need, and only as long as tokens are good.
package enum ExpiringRows: Hashable, Sendable {
    case tombstones
    case membershipChanges
}
