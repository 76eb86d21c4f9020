import Foundation
import RecordModel
import WireProtocol

/// Everything in a record that can change: a value, so that a copy is the record at one moment.
struct RecordState: Sendable {
    /// The parent of a record.
    struct Parent: Sendable {
        let reference: CKReference
        /// The record name of the parent, or why the server can't have it as a parent.
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

    /// A save in flight, and the time on the record's clock when it was made.
    struct SentSave: Sendable {
        /// Only this many saves of one instance without a response are told apart.
        static let countMax = 4

        var save: RecordSave
        var generation: UInt64
        var parentGeneration: UInt64
    }

    var system = SystemState()
    var table: FieldTable
    var parent: Parent?
    var parentIsChanged = false
    /// The share with this record as its root.
    var share: CKReference?
    /// The state of a share besides its fields.
    var sharing: ShareState?
    private var parentGeneration: UInt64 = 0
    /// The server's record that this instance was last given.
    var ancestor: Record?
    /// The saves that may still get a response, oldest first.
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
    /// - Returns: The former parent, for the caller to release.
    mutating func replaceParent(by parent: Parent?) -> Parent? {
        let before = self.parent
        self.parent = parent
        self.parentIsChanged = true
        self.parentGeneration += 1
        return before
    }

    /// Makes a save, and notes its time.
    mutating func save(
        id: RecordID,
        recordType: String,
        policy: ModifyRecords.Policy
    ) throws(ValueRefusal) -> RecordSave {
        // The server saves a share in this way with any policy.
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

    /// Stores the server's response to a save; later changes stay changes.
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

    /// Notes that the share with this root record was deleted by the request that saved
    /// the record.
    mutating func shareEnded() {
        self.share = nil
        guard let ancestor = self.ancestor else { return }
        let clear = RecordBody([Field(name: ShareRecord.referenceField, value: .clear)])
        self.ancestor?.body = ancestor.body.merging(clear)
    }

    /// Notes that the contents of a save's files are known: it is sent with them.
    mutating func saveIsKnown(_ save: RecordSave, as known: RecordSave) {
        guard let index = self.saves.firstIndex(where: { $0.save == save }) else { return }
        self.saves[index].save = known
    }
}

extension FieldTable {
    /// Returns the fields of a save; `allKeys` sends every field that has a value or was removed,
    /// the others send changed fields.
    fileprivate func fieldsToSend(_ policy: ModifyRecords.Policy) throws(ValueRefusal) -> [Field] {
        if let (_, misuse) = self.misuses.min(by: { $0.key < $1.key }) { throw misuse }
        var keys = Set(self.changes.keys)
        if policy == .allKeys { keys.formUnion(self.keys) }
        var fields: [Field] = []
        for key in keys.sorted() {
            guard let entry = self.entry(key) else {
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
