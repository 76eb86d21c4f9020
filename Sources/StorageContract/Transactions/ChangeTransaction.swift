/// A transaction that changes a database, as rules need it: positions, and the report for the
/// observer of commits.
package protocol ChangeTransaction: UsageTransaction {
    /// Takes the next position of a database. Ascending; gaps are permitted.
    func takePosition(in database: DatabaseID) throws(StorageFailure) -> Int64
    /// The last position that was taken in a database, by the transaction or before it.
    func position(of database: DatabaseID) throws(StorageFailure) -> Int64
    /// The position of the last change in any zone of a database but one, as of the last commit; 0
    /// if there is no other zone.
    ///
    /// Zones that are gone do not count.
    func lastChange(
        inZonesOf database: DatabaseID,
        exceptNamed name: String
    ) throws(StorageFailure) -> Int64

    /// Whether changes of a database are reported to the observer of commits
    /// (`CommitObserver.watched`).
    func isWatched(_ database: DatabaseID) -> Bool
    /// Adds a change to the report that the observer gets after the commit, if the database is
    /// watched.
    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID)
}
