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
    /// The parent that was set here, if `hasOwnParent`; `nil` if it was removed.
    private var ownParent: Parent?
    private var hasOwnParent = false
    private(set) var parentIsChanged = false
    private var parentGeneration: UInt64 = 0
    /// The share with this record as its root, unless the server's fields name it.
    var ownShare: CKReference?
    private var boxedSharing: BoxedSharing?
    /// The fields of the server's record that this instance was last given, and the name of its
    /// parent; `nil` if of none.
    var serverBody: RecordBody?
    var serverParent: String?
    /// The saves that may still get a response, oldest first.
    private var saves: [SentSave] = []

    /// In memory of its own, so that records are small.
    private indirect enum BoxedSharing: Sendable {
        case sharing(ShareState)
    }

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

    /// The server's record that this instance was last given.
    func ancestor(_ id: RecordID, _ recordType: String) -> Record? {
        guard let body = self.serverBody, let changeTag = self.system.changeTag else { return nil }
        return Record(
            id: id,
            recordType: recordType,
            changeTag: changeTag,
            system: SystemFields(
                createdMilliseconds: self.system.createdMilliseconds ?? 0,
                modifiedMilliseconds: self.system.modifiedMilliseconds ?? 0,
                createdBy: self.system.creator ?? "",
                modifiedBy: self.system.modifier ?? ""
            ),
            parent: self.serverParent,
            body: body
        )
    }

    /// The state of a share besides its fields; `nil` if the record is none.
    var sharing: ShareState? {
        get { if case .sharing(let sharing)? = self.boxedSharing { sharing } else { nil } }
        set { self.boxedSharing = newValue.map { .sharing($0) } }
    }

    /// The name of the parent; `nil` if there is none.
    var parentName: String? {
        self.hasOwnParent ? self.ownParent?.reference.recordID.recordName : self.serverParent
    }

    /// Returns the parent; that of the server is in the record's zone.
    func parent(in zone: CKRecordZoneID) -> CKReference? {
        guard !self.hasOwnParent else { return self.ownParent?.reference }
        return self.serverParent.map {
            CKReference(recordID: CKRecordID(recordName: $0, zoneID: zone), action: .none)
        }
    }

    /// Sets the parent.
    ///
    /// - Returns: The former parent, for the caller to release.
    mutating func replaceParent(by parent: Parent?, isChange: Bool = true) -> Parent? {
        defer { (self.ownParent, self.hasOwnParent, self.parentIsChanged) = (parent, true, isChange) }
        self.parentGeneration += 1
        return self.ownParent
    }

    /// Returns the share with this record as its root; `nil` if there is none.
    func share(in zone: CKRecordZoneID) -> CKReference? {
        if let share = self.ownShare { return share }
        guard let body = self.serverBody, let slice = body.slice(named: ShareRecord.referenceField),
            case .reference(let share) = body.value(of: slice)
        else { return nil }
        return CKReference(share, in: zone)
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
            changes: try self.table.fieldsToSend(policy),
            parent: try self.parentChange(policy)
        )
        if let sharing = self.sharing { save.share = .changes(try sharing.changes()) }
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
        guard self.hasOwnParent else {
            return self.serverParent.map { .set(recordName: $0) } ?? .unchanged
        }
        guard let parent = self.ownParent else { return self.parentIsChanged ? .removed : .unchanged }
        return .set(recordName: try parent.name.get())
    }

    /// Stores the server's response to a save; later changes stay changes.
    mutating func saved(_ saved: RecordSaved, sent: RecordSave, currentUser: String?) {
        self.system = SystemState(changeTag: saved.changeTag, system: saved.system, currentUser: currentUser)
        if case .changes(let changes) = sent.share { self.sharing?.sent = changes }
        switch sent.parent {
        case .unchanged: break
        case .removed: self.serverParent = nil
        case .set(let recordName): self.serverParent = recordName
        }
        if let index = self.saves.firstIndex(where: { $0.save == sent }) {
            let sending = self.saves.remove(at: index)
            self.table.forgetChanges(sent: sent.changes, until: sending.generation)
            if self.parentGeneration == sending.parentGeneration { self.parentIsChanged = false }
        }
        self.mergeIntoServerBody(sent.changes)
    }

    private mutating func mergeIntoServerBody(_ changes: RecordBody) {
        let before = self.serverBody ?? .empty
        let after = before.merging(changes)
        self.serverBody = after
        self.table.replace(before, by: after)
    }

    /// Notes that the share with this root record was deleted by the request that saved
    /// the record.
    mutating func shareEnded() {
        self.ownShare = nil
        guard self.serverBody != nil else { return }
        self.mergeIntoServerBody(RecordBody([Field(name: ShareRecord.referenceField, value: .clear)]))
    }

    /// Notes that the contents of a save's files are known: it is sent with them.
    mutating func saveIsKnown(_ save: RecordSave, as known: RecordSave) {
        guard let index = self.saves.firstIndex(where: { $0.save == save }) else { return }
        self.saves[index].save = known
    }
}
