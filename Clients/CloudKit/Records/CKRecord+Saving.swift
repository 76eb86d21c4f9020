import Foundation
package import RecordModel
package import WireProtocol

/// A save on its way, and the time on the record's clocks when it was made.
struct SentSave {
    /// More saves than these, unanswered, of one instance are not told apart.
    static let countMax = 4

    var save: RecordSave
    var generation: UInt64
    var parentGeneration: UInt64
}

extension CKRecord {
    /// Makes a record that a server returned.
    ///
    /// It remembers itself as the ancestor of later changes.
    ///
    /// - Parameters:
    ///   - record: What the server returned.
    ///   - currentUser: The record name of the user who asked.
    package convenience init(_ record: Record, currentUser: String?) {
        let recordID = CKRecordID(record.id)
        self.init(
            storing: record.recordType,
            recordID: recordID,
            system: SystemState(changeTag: record.changeTag, system: record.system, currentUser: currentUser),
            table: FieldTable(record.body, in: recordID.zoneID)
        )
        self.storedParent = record.parent.map {
            CKReference(recordID: CKRecordID(recordName: $0, zoneID: recordID.zoneID), action: .none)
        }
        self.ancestor = record
    }

    /// Makes what a save of the record sends, and notes when, so that `saved` can tell later changes apart.
    ///
    /// - Parameter policy: `allKeys` sends every field that has a value or was removed, the others what changed.
    /// - Returns: The save, to be sent as it is and given back to `saved`.
    /// - Throws: `CKError` with the first thing about the record that no server accepts.
    package func save(policy: ModifyRecords.Policy) throws(CKError) -> RecordSave {
        try self.checkNames()
        let fields = try self.fieldsToSend(policy)
        let save = RecordSave(
            id: self.recordID.model,
            recordType: self.recordType,
            changeTag: self.recordChangeTag,
            changes: RecordBody(fields),
            parent: try self.parentChange(policy)
        )
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

    /// Takes up what the server answered to a save.
    ///
    /// Fields that were set again since `save(policy:)` made `sent` stay changed.
    ///
    /// - Parameters:
    ///   - saved: The server's answer.
    ///   - sent: What was sent.
    ///   - currentUser: The record name of the user who asked.
    package func saved(_ saved: RecordSaved, sent: RecordSave, currentUser: String?) {
        self.system = SystemState(changeTag: saved.changeTag, system: saved.system, currentUser: currentUser)
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
        if self.parentGeneration == made.parentGeneration { self.parentIsChanged = false }
    }

    private func checkNames() throws(CKError) {
        guard NameRules.isIdentifier(self.recordType.utf8) else {
            throw CKError(refusing: "'\(self.recordType)' is not a valid record type", of: self)
        }
        let zoneID = self.recordID.zoneID
        guard zoneID.zoneName == CKRecordZoneID.defaultZoneName || NameRules.isItemName(zoneID.zoneName)
        else {
            throw CKError(refusing: "'\(zoneID.zoneName)' is not a valid zone name", of: self)
        }
        let name = self.recordID.recordName
        guard NameRules.isItemName(name) || NameRules.isUserRecordName(name) else {
            throw CKError(refusing: "'\(name)' is not a valid record name", of: self)
        }
    }

    private func fieldsToSend(_ policy: ModifyRecords.Policy) throws(CKError) -> [Field] {
        if let (_, misuse) = self.table.misuses.min(by: { $0.key < $1.key }) {
            throw CKError(refusing: misuse.text, of: self, code: misuse.code)
        }
        var keys = Set(self.table.changes.keys)
        if policy == .allKeys { keys.formUnion(self.table.entries.keys) }
        var fields: [Field] = []
        for key in keys.sorted() {
            switch self.table.entries[key] {
            case nil:
                let isEncrypted = self.table.changes[key]?.isEncrypted ?? false
                fields.append(Field(name: key, value: .clear, isEncrypted: isEncrypted))
            case let entry?:
                switch entry.value {
                case .success(let value):
                    fields.append(Field(name: key, value: value, isEncrypted: entry.isEncrypted))
                case .failure(let refusal):
                    throw CKError(refusing: "Field '\(key)': \(refusal.text)", of: self, code: refusal.code)
                }
            }
        }
        return fields
    }

    private func parentChange(_ policy: ModifyRecords.Policy) throws(CKError) -> RecordSave.ParentChange {
        guard self.parentIsChanged || policy == .allKeys else { return .unchanged }
        guard let parent = self.parent else { return self.parentIsChanged ? .removed : .unchanged }
        guard parent.action == .none else {
            throw CKError(refusing: "The action of a parent reference must be none", of: self)
        }
        guard parent.recordID.zoneID == self.recordID.zoneID else {
            throw CKError(refusing: "A parent must be in the zone of its record", of: self)
        }
        return .set(recordName: parent.recordID.recordName)
    }
}

extension CKError {
    fileprivate init(refusing text: String, of record: CKRecord, code: Code = .invalidArguments) {
        let message = "\(text) (record '\(record.recordID.recordName)')"
        var userInfo = Self.userInfo(code: code, message: message)
        userInfo[Self.retryAdviceKey] = RetryAdvice.afterChange
        userInfo[Self.batchCauseKey] = BatchCause.culprit
        self.init(code, userInfo: userInfo)
    }
}
