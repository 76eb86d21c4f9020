/// What rules about schemas may read.
package protocol IndexReader: TableReader {
    /// Whether any zone of an environment has an entry in an index.
    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool
}

/// What rules about schemas may do within one transaction.
package protocol IndexWriter: IndexReader, TableWriter {
    /// Takes numbers that no index ever had, one after the other, and returns the first.
    func takeIndexNumbers(_ count: Int) throws(StorageFailure) -> Int64
}
