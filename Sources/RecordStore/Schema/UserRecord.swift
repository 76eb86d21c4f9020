import RecordModel

/// The record that every user has in the public and the private database.
package enum UserRecord {
    package static let type = "Users"
    /// A field of the system: no client writes it.
    package static let rolesField = "roles"

    /// The type of a field that user records have in every schema.
    static func fieldType(of field: String, in recordType: String) -> FieldType? {
        recordType == self.type && field == self.rolesField ? .int64List : nil
    }

    /// Whether a record of this name and type is for the server alone to create and delete.
    package static func isReserved(name: String, type: String) -> Bool {
        type == self.type || NameRules.isUserRecordName(name)
    }

    /// Whether a save touches what only the server may.
    static func touchesReservedField(_ changes: RecordBody, ofType type: String) -> Bool {
        guard type == self.type else { return false }
        var cursor = FieldCursor(changes.bytes)
        while let slice = cursor.nextTrusted() {
            if changes.name(of: slice) == self.rolesField { return true }
        }
        return false
    }
}
