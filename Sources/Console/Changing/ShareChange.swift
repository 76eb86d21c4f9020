package import RecordModel

/// A change of a share that an operator makes in the console, acting as its owner or an administrator.
package struct ShareChange: Sendable {
    package enum Kind: Sendable {
        /// A share of a record with all below it, or without one of the whole zone.
        case begin(root: RecordSave?)
        case participants(ShareChanges)
        /// Ends the share: then the owner alone has the records.
        case end
    }

    /// The name of the user who is acted as.
    package var user: String
    package var scope: DatabaseScope
    /// The record of the share.
    package var id: RecordID
    /// The share that was read; `nil` if there is none yet.
    package var changeTag: String?
    package var kind: Kind
    /// The change as part of a sentence.
    package var words: String

    /// The requests' one operation.
    ///
    /// A share is saved only as it was read: what another user has changed meanwhile stays.
    package var operation: ModifyRecords {
        switch self.kind {
        case .begin(let root):
            let changes = ShareChanges(root: root?.id.recordName)
            return ModifyRecords(scope: self.scope, saves: [root, self.save(changes)].compactMap { $0 })
        case .participants(let changes):
            return ModifyRecords(scope: self.scope, saves: [self.save(changes)])
        case .end: return ModifyRecords(scope: self.scope, saves: [], deletes: [self.id])
        }
    }

    private func save(_ changes: ShareChanges) -> RecordSave {
        var save = RecordSave(
            id: self.id,
            recordType: ShareRecord.type,
            changeTag: self.changeTag,
            changes: RecordBody([])
        )
        save.share = .changes(changes)
        return save
    }
}
