/// Reads that a snapshot and a transaction have in common: zones and records by name.
///
/// Names are asked for together, as many as a rule knows; the functions for one name are below.
package protocol RecordReader: IndexReader {
    /// Finds where the records of zones are: one element a name, in order, `nil` where there is no
    /// such zone. In a shared database that is the zone of the owner.
    func zones(
        named names: [String],
        in database: DatabaseID
    ) throws(StorageFailure) -> [ZoneKey?]

    /// Reads records by name: one element a name, in order, `nil` for a record that is absent.
    ///
    /// Stops behind the record with which the bodies take more than `bytesMax`, so that nobody
    /// holds much more than that: the array is shorter than `names` then, and never empty if
    /// `names` is not.
    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?]
}

extension RecordReader {
    /// Finds where the records of one zone are; `nil` if there is no such zone.
    package func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        try self.zones(named: [name], in: database)[0]
    }

    /// Reads records by name, however large: one element a name, in order, `nil` where there is
    /// none.
    package func records(
        named names: [String],
        in zone: ZoneKey
    ) throws(StorageFailure) -> [StoredRecord?] {
        try self.records(named: names[...], in: zone, bytesMax: .max)
    }

    /// Reads one record by name; `nil` if there is none.
    package func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        try self.records(named: [name], in: zone)[0]
    }
}
