/// Reads that a snapshot and a transaction have in common: zones and records by name.
///
/// Records are asked for together, as many as a rule knows.
package protocol RecordReader: IndexReader {
    /// Finds where the records of a zone are; `nil` if there is no such zone. In a shared database
    /// that is the zone of the owner.
    func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey?

    /// Reads one record by name; `nil` if there is none.
    ///
    /// Most fetches ask for one record. An engine may leave this to `records`, which makes two arrays
    /// more.
    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord?

    /// Reads records by name: one element a name, in order, `nil` for a record that is absent.
    ///
    /// Stops behind the record with which the bodies take more than `bytesMax`, which bounds the
    /// caller's memory: the array is shorter than `names` then, and never empty if `names` is not.
    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?]
}

extension RecordReader {
    /// Reads records by name, however large: one element a name, in order, `nil` where there is
    /// none.
    package func records(
        named names: [String],
        in zone: ZoneKey
    ) throws(StorageFailure) -> [StoredRecord?] {
        try self.records(named: names[...], in: zone, bytesMax: .max)
    }

    package func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        try self.records(named: [name], in: zone)[0]
    }
}
