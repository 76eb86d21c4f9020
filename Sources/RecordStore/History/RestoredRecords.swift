package import RecordModel

/// Records that an operator puts back, and how their saves differ from those of a client.
///
/// The saves are ordinary changes, with three exceptions. A record that is made again keeps who had
/// made it and when. Grants of a public database do not matter. Every complete asset of the database
/// may be named.
package struct RestoredRecords: Sendable {
    /// System fields of records that are made again, by name; of the last change they say nothing.
    package var creations: [String: SystemFields]

    package init(creations: [String: SystemFields]) { self.creations = creations }
}

extension ModifyRecordsRule {
    /// The system fields of a record that is saved now.
    func systemFields(after existing: StoredRecord?, named name: String) -> SystemFields {
        var system = self.systemFields(after: existing)
        if existing == nil, let creation = self.restored?.creations[name] {
            system.createdMilliseconds = creation.createdMilliseconds
            system.createdBy = creation.createdBy
        }
        return system
    }
}
