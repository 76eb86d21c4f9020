package import RecordModel
package import StorageContract

/// The decision table of a save (`Protocol/README.md`, section 5.2).
package enum SaveRules {
    package enum Verdict: Hashable, Sendable {
        case create
        case update
    }

    /// The row of the table; `existing` is the server's record with the name.
    package static func verdict(
        on save: RecordSave,
        policy: ModifyRecords.Policy,
        existing: StoredRecord?
    ) throws(StoreError) -> Verdict {
        switch policy {
        case .changedKeys, .allKeys:
            return existing == nil ? .create : .update
        case .ifServerRecordUnchanged:
            switch (save.changeTag, existing) {
            case (nil, nil): return .create
            case (nil, let existing?): throw .recordExists(existing.record(id: save.id))
            case (_?, nil): throw .recordMissing
            case (let tag?, let existing?):
                guard tag == ChangeTag.text(of: existing.position) else {
                    throw .changeTagStale(existing.record(id: save.id))
                }
                return .update
            }
        }
    }

    /// Names that a client may give, and those of user records, which it may only change.
    static func checkName(of id: RecordID) throws(StoreError) {
        if NameRules.isRecordName(id.recordName) { return }
        guard NameRules.isUserRecordName(id.recordName), id.zone.isDefault else {
            throw .nameInvalid(.record)
        }
    }

    static func checkType(_ type: String) throws(StoreError) {
        guard NameRules.isIdentifier(type.utf8) else { throw .nameInvalid(.recordType) }
    }
}
