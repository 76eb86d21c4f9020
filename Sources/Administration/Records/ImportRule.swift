import RecordJSON
import RecordModel
import RecordStore
import StorageContract

/// A record that an import saves.
struct PlannedImport {
    var draft: RecordDraft
    var save: RecordSave
    var isNew: Bool
}

/// Decides what an import does with a record, by what is there.
struct ImportRule {
    enum Verdict {
        case unchanged
        case save(RecordSave, isNew: Bool)
        case refused(ItemFailure.Reason)
    }

    let policy: ModifyRecords.Policy

    func verdict(on draft: RecordDraft, as id: RecordID, existing: ReadOutcome) -> Verdict {
        switch existing {
        case .failed(.recordMissing):
            // The tag of the file is from another store or zone, or from a record that was deleted.
            return .save(draft.save(as: id, changeTag: nil, changes: draft.changes), isNew: true)
        case .failed(let error): return .refused(.store(error))
        case .record(let record): return self.verdict(on: draft, as: id, existing: record)
        case .zone, .shareMetadata, .identity, .explanation: return .refused(.isNoRecord)
        }
    }

    private func verdict(on draft: RecordDraft, as id: RecordID, existing: Record) -> Verdict {
        guard existing.recordType == draft.recordType else {
            return .refused(.hasType(existing.recordType))
        }
        var draft = draft
        if self.policy == .allKeys {
            draft.changes = draft.changes.clearingOthers(of: existing.body)
            if draft.parent == .unchanged, existing.parent != nil { draft.parent = .removed }
        }
        guard existing.body.merging(draft.changes) != existing.body || draft.changesParent(of: existing)
        else {
            return .unchanged
        }
        if self.policy == .ifServerRecordUnchanged, draft.changeTag != existing.changeTag {
            return .refused(.differs(changeTag: existing.changeTag))
        }
        return .save(draft.save(as: id, changeTag: existing.changeTag, changes: draft.changes), isNew: false)
    }
}

extension RecordDraft {
    fileprivate func changesParent(of record: Record) -> Bool {
        switch self.parent {
        case .unchanged: false
        case .removed: record.parent != nil
        case .set(let name): !ExactName.areSame(record.parent, name)
        }
    }
}
