/// Reads for rules about schemas, beside the rows of declared tables.
package protocol IndexReader: TableReader {
    /// Reads record types by name: one element a name, in order, `nil` if no record of that type
    /// was ever saved or declared.
    ///
    /// `StoredType.types` assembles them from rows. An engine may keep what that returned for as
    /// long as no row of a schema changes, in a transaction of whichever process; every save and
    /// every query asks.
    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?]
    /// Whether any zone of an environment has an entry in an index.
    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool
}

/// Writes for rules about schemas, within one transaction.
package protocol IndexWriter: IndexReader, TableWriter {
    /// Takes numbers that no index ever had, one after the other, and returns the first.
    func takeIndexNumbers(_ count: Int) throws(StorageFailure) -> Int64
}
