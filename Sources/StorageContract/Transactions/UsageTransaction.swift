/// Counters of the contents of databases, for rules in a transaction.
///
/// An engine counts the writes of its own primitives. Rules that write rows of declared tables
/// report the amounts of these rows. At the commit the engine adds the counts to the rows of
/// databases and zones (`DatabaseRow`, `ZoneRow`), and updates their positions as well. Until then
/// these rows are unchanged, so a rule that writes one loses no count.
package protocol UsageTransaction: TableWriter {
    /// The server's clock, milliseconds since 1970; the same for all changes of one request.
    var nowMilliseconds: Int64 { get }

    /// Counts the growth of a database; a negative amount is a decrease.
    func count(_ growth: StoredAmount, in database: DatabaseID)
    /// Counts the bytes of rows that belong to a zone, for its database too: they go with it.
    func count(rowBytes: Int, in zone: ZoneKey)

    /// Adds up the bytes that count for the quota of a database's container, or of the user who
    /// owns the database, with the writes of the transaction; `nil` for the user if the database
    /// has no owner.
    ///
    /// The sum may lack counts that the engine has still to write, if it stays below the quota with
    /// them.
    func bytesStored(
        under quota: Quota,
        with database: DatabaseID
    ) throws(StorageFailure) -> Int64?
}

extension UsageTransaction {
    /// Counts the bytes of rows of a database that belong to no zone.
    package func count(rowBytes: Int, in database: DatabaseID) {
        var growth = StoredAmount()
        growth.rowBytes = Int64(rowBytes)
        self.count(growth, in: database)
    }
}
