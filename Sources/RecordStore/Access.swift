package import RecordModel

/// Who may do what (`Protocol/README.md`, section 5.6).
///
/// Reading needs no rule: whoever has a database may read it.
package enum Access {
    /// Whether the requester may change anything in the database at all.
    package static func checkWriting(by requester: Requester) throws(StoreError) {
        guard requester.scope != .shared else { throw .databaseNotAllowed }
        guard requester.userRecordName != nil else { throw .notSignedIn }
    }

    /// Whether the requester may read the database.
    package static func checkReading(by requester: Requester) throws(StoreError) {
        switch requester.scope {
        case .public: return
        case .private: guard requester.userRecordName != nil else { throw .notSignedIn }
        case .shared: throw .databaseNotAllowed
        }
    }

    /// Whether the requester may change or delete a record that exists.
    package static func mayWrite(
        _ record: StoredRecord,
        named name: String,
        requester: Requester
    ) -> Bool {
        if record.recordType == UserRecord.type { return name == requester.userRecordName }
        switch requester.scope {
        case .private: return true
        case .public: return record.system.createdBy == requester.userRecordName
        case .shared: return false
        }
    }

    /// Whether the words of a zone ID mean a zone of the requester's database.
    package static func isOwn(_ zone: ZoneID, of requester: Requester) -> Bool {
        zone.ownerName.isEmpty || zone.ownerName == requester.userRecordName
    }
}

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
}
