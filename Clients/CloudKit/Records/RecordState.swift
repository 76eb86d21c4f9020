import Foundation
import RecordModel
import WireProtocol

/// What can change in a record: a value, so that a copy is a record at one moment.
struct RecordState: Sendable {
    /// What a record belongs to.
    struct Parent: Sendable {
        let reference: CKReference
        /// The record name of the parent, or why the server can't have it as one.
        let name: Result<String, ValueRefusal>

        init(_ reference: CKReference, in zone: CKRecordZoneID) {
            self.reference = reference
            self.name =
                if reference.action != .none {
                    .failure(ValueRefusal("The action of a parent reference must be none"))
                } else if reference.recordID.zoneID != zone {
                    .failure(ValueRefusal("A parent must be in the zone of its record"))
                } else {
                    .success(reference.recordID.recordName)
                }
        }
    }

    /// A save on its way, and the time on the record's clocks when it was made.
    struct SentSave: Sendable {
        /// More saves than these, unanswered, of one instance are not told apart.
        static let countMax = 4

        var save: RecordSave
        var generation: UInt64
        var parentGeneration: UInt64
    }

    var system = SystemState()
    var table: FieldTable
    var parent: Parent?
    var parentIsChanged = false
    /// The share that the record is the root of.
    var share: CKReference?
    /// Of a share: what is beside its fields.
    var sharing: ShareState?
    private var parentGeneration: UInt64 = 0
    /// The record as the server had it when this instance last heard of it.
    var ancestor: Record?
    /// The saves that may still be answered, oldest first.
    private var saves: [SentSave] = []

    init(system: SystemState = SystemState(), table: FieldTable) {
        self.system = system
        self.table = table
    }

    /// The same content without what concerns one instance only.
    var copy: RecordState {
        var copy = self
        copy.saves = []
        return copy
    }

    /// Sets the parent.
    ///
    /// - Returns: What it was, for the caller to release.
    mutating func replaceParent(by parent: Parent?) -> Parent? {
        let before = self.parent
        self.parent = parent
        self.parentIsChanged = true
        self.parentGeneration += 1
        return before
    }

    /// Makes what a save sends, and notes when.
    mutating func save(
        id: RecordID,
        recordType: String,
        policy: ModifyRecords.Policy
    ) throws(ValueRefusal) -> RecordSave {
        // The server saves a share so whatever the policy.
        let policy = self.sharing == nil ? policy : .ifServerRecordUnchanged
        var save = RecordSave(
            id: id,
            recordType: recordType,
            changeTag: self.system.changeTag,
            changes: RecordBody(try self.table.fieldsToSend(policy)),
            parent: try self.parentChange(policy)
        )
        if let sharing { save.share = .changes(try sharing.changes()) }
        self.saves.removeAll { $0.save == save }
        if self.saves.count == SentSave.countMax { self.saves.removeFirst() }
        self.saves.append(
            SentSave(
                save: save,
                generation: self.table.generation,
                parentGeneration: self.parentGeneration
            )
        )
        return save
    }

    private func parentChange(_ policy: ModifyRecords.Policy) throws(ValueRefusal) -> RecordSave.ParentChange
    {
        guard self.parentIsChanged || policy == .allKeys else { return .unchanged }
        guard let parent = self.parent else { return self.parentIsChanged ? .removed : .unchanged }
        return .set(recordName: try parent.name.get())
    }

    /// Takes up what the server answered to a save; what was changed since stays changed.
    mutating func saved(_ saved: RecordSaved, sent: RecordSave, currentUser: String?) {
        self.system = SystemState(changeTag: saved.changeTag, system: saved.system, currentUser: currentUser)
        if case .changes(let changes) = sent.share { self.sharing?.sent = changes }
        let before = self.ancestor
        var parent = before?.parent
        switch sent.parent {
        case .unchanged: break
        case .removed: parent = nil
        case .set(let recordName): parent = recordName
        }
        self.ancestor = Record(
            id: sent.id,
            recordType: sent.recordType,
            changeTag: saved.changeTag,
            system: saved.system,
            parent: parent,
            body: (before?.body ?? .empty).merging(sent.changes)
        )
        guard let index = self.saves.firstIndex(where: { $0.save == sent }) else { return }
        let made = self.saves.remove(at: index)
        self.table.forgetChanges(of: sent.changes.fields.map(\.name), until: made.generation)
        self.table.assetsSaved(sent.changes.fields)
        if self.parentGeneration == made.parentGeneration { self.parentIsChanged = false }
    }

    /// The share that the record was the root of was deleted in the request that saved the record.
    mutating func shareEnded() {
        self.share = nil
        guard let ancestor = self.ancestor else { return }
        let clear = RecordBody([Field(name: ShareRecord.referenceField, value: .clear)])
        self.ancestor?.body = ancestor.body.merging(clear)
    }

    /// The files of a save are known now: it is sent with what they are.
    mutating func saveIsKnown(_ save: RecordSave, as known: RecordSave) {
        guard let index = self.saves.firstIndex(where: { $0.save == save }) else { return }
        self.saves[index].save = known
    }
}

extension FieldTable {
    /// The fields of a save; `allKeys` sends every field that has a value or was removed, the others what changed.
    fileprivate func fieldsToSend(_ policy: ModifyRecords.Policy) throws(ValueRefusal) -> [Field] {
        if let (_, misuse) = self.misuses.min(by: { $0.key < $1.key }) { throw misuse }
        var keys = Set(self.changes.keys)
        if policy == .allKeys { keys.formUnion(self.entries.keys) }
        var fields: [Field] = []
        for key in keys.sorted() {
            guard let entry = self.entries[key] else {
                let isEncrypted = self.changes[key]?.isEncrypted ?? false
                fields.append(Field(name: key, value: .clear, isEncrypted: isEncrypted))
                continue
            }
            switch entry.value {
            case .success(let value):
                fields.append(Field(name: key, value: value, isEncrypted: entry.isEncrypted))
            case .failure(let refusal):
                throw ValueRefusal("Field '\(key)': \(refusal.text)", code: refusal.code)
            }
        }
        return fields
    }
}
