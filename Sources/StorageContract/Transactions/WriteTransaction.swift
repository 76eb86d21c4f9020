/// A transaction as rules see it: the part in which engines differ.
///
/// Calls come from one thread at a time. Reads of the transaction see its earlier writes; other
/// transactions see them after the commit. A failure leaves the request in an undefined state: the
/// engine rolls it back to its beginning.
package protocol WriteTransaction: ChangeTransaction, RecordReader, IndexWriter {
    /// Grows with whatever a request changes.
    var positionsTaken: Int { get }

    /// The connection that makes the changes, which is not notified of them; `nil` if there is
    /// none.
    ///
    /// The engine sets it when it begins a job. A rule sets it while it makes changes that follow
    /// from what another connection did.
    var origin: ChangeOrigin? { get set }

    /// Knowledge of rules about tables that they need not read again.
    var memory: RuleMemory { get }

    /// Writes the row (`ZoneRow`) of a zone that is absent.
    ///
    /// Its number is the position of the creation: no other zone of the database ever has it. Rules
    /// call `createZone`.
    func insertZone(
        named name: String,
        in database: DatabaseID,
        at position: Int64
    ) throws(StorageFailure) -> ZoneKey
    /// Deletes the row of a zone, in time that does not depend on how much the zone has.
    ///
    /// The zone may be one of a shared database, which has no contents. Rules call `removeZone`.
    ///
    /// - Returns: The amounts that its contents count for, writes of the transaction included.
    func deleteZone(_ zone: ZoneKey, named name: String) throws(StorageFailure) -> StoredAmount

    /// Writes records of a zone, with their references and index entries, and returns the numbers
    /// of saved records, in order.
    ///
    /// - Records: A new one gets a number; an existing one is as `existing` says. A deleted one
    ///   leaves a tombstone, which goes when a record of that name comes.
    /// - Entries: An added one may exist already, and a removed one may be absent: an index that is
    ///   being built has not reached every record. Nothing in a transaction reads entries.
    /// - References: The table that SQLite keeps them in is called `hold`.
    /// - Counting: The engine counts the rows and the bodies for the zone, by `RowBytes`.
    @discardableResult
    func apply(
        _ writes: RecordWrites,
        to zone: ZoneKey,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [Int64]

    /// Reads which records refer to some records so that they keep these from being deleted, or are
    /// deleted with them.
    ///
    /// - Shape: One list a target, in order, each in the order of names; that of the first target
    ///   begins behind a name. The lists have at most `limit` referrers together. They end with the
    ///   target that reaches the limit, perhaps before its last referrer.
    func referrers(
        of targets: [String],
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) throws(StorageFailure) -> [[Referrer]]
    /// Counts the records that have a `deleteSelf` reference to each target, in order; up to `limit`.
    func countsOfDeleteSelfReferrers(
        of targets: [String],
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [Int]

    /// Notes that the last change of a zone, which is none of a record, has a position above all
    /// before.
    ///
    /// The zone may be one of a shared database.
    func advance(_ zone: ZoneKey, to position: Int64)
}

extension WriteTransaction {
    /// Reads which records refer to one record: at most `limit`, in the order of their names, those
    /// behind a name.
    package func referrers(
        of target: String,
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) throws(StorageFailure) -> [Referrer] {
        try self.referrers(of: [target], in: zone, behind: name, limit: limit)[0]
    }
}
