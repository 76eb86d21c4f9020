import Foundation
import Synchronization
package import RecordModel
package import WireProtocol

extension CKRecord {
    /// Makes a record that a server returned; it is the ancestor of later changes.
    ///
    /// - Parameters:
    ///   - record: The server's record.
    ///   - currentUser: The record name of the user who sent the request.
    package convenience init(_ record: Record, currentUser: String?) {
        let recordID = CKRecordID(record.id)
        let state = RecordState(
            record,
            record.body.contents,
            in: recordID.zoneID,
            currentUser: currentUser
        )
        self.init(storing: record.recordType, recordID: recordID, state: state)
    }

    /// Makes the record, or the share, that a server returned.
    ///
    /// - Parameters:
    ///   - record: The server's record.
    ///   - contents: The types of its values, if they are known.
    ///   - recordID: Its ID, if the caller has made it.
    ///   - currentUser: The record name of the user who sent the request.
    /// - Returns: A `CKShare` for a share.
    package static func made(
        of record: Record,
        _ contents: BodyContents? = nil,
        as recordID: CKRecordID? = nil,
        currentUser: String?
    ) -> CKRecord {
        let recordID = recordID ?? CKRecordID(record.id)
        let state = RecordState(
            record,
            contents ?? record.body.contents,
            in: recordID.zoneID,
            currentUser: currentUser
        )
        guard record.recordType == ShareRecord.type else {
            return CKRecord(storing: record.recordType, recordID: recordID, state: state)
        }
        return CKShare(sharing: recordID, state: state)
    }

    /// Makes a save of the record, and notes the moment, so that `saved` can tell later changes
    /// apart.
    ///
    /// - Parameter policy: `allKeys` sends every field that has a value or was removed; the others
    ///   send changed fields.
    /// - Returns: The save, to be sent as it is and passed to `saved`.
    /// - Throws: `CKError` with the first fault that no server accepts.
    package func save(policy: ModifyRecords.Policy) throws(CKError) -> RecordSave {
        do throws(ValueRefusal) {
            try self.checkNames()
            let id = self.storedID.model
            return try self.state.withLock { state throws(ValueRefusal) in
                try state.save(id: id, recordType: self.recordType, policy: policy)
            }
        } catch {
            throw CKError(refusing: error, of: self.storedID)
        }
    }

    /// Makes a save of the record, with the files that must be uploaded first.
    ///
    /// - Throws: `CKError` with the first fault that no server accepts.
    func outgoingSave(policy: ModifyRecords.Policy) throws(CKError) -> OutgoingSave {
        do throws(ValueRefusal) {
            try self.checkNames()
            let id = self.storedID.model
            return try self.state.withLock { state throws(ValueRefusal) in
                let save = try state.save(id: id, recordType: self.recordType, policy: policy)
                return OutgoingSave(save, of: self, fields: state.assetsToUpload(for: save))
            }
        } catch {
            throw CKError(refusing: error, of: self.storedID)
        }
    }

    /// Stores the server's response to a save.
    ///
    /// Fields that were set again since `save(policy:)` made `sent` stay changed.
    ///
    /// - Parameters:
    ///   - saved: The server's response.
    ///   - sent: The save that was sent.
    ///   - currentUser: The record name of the user who sent the request.
    package func saved(_ saved: RecordSaved, sent: RecordSave, currentUser: String?) {
        self.state.withLock { $0.saved(saved, sent: sent, currentUser: currentUser) }
    }

    /// Notes that the share with this root record has ended.
    func shareEnded() { self.state.withLock { $0.shareEnded() } }

    private func checkNames() throws(ValueRefusal) {
        let isShare = self.recordType == ShareRecord.type && self.snapshot.sharing != nil
        guard isShare || NameRules.isIdentifier(self.recordType.utf8) else {
            throw ValueRefusal(
                "\(NameRules.quoted(self.recordType)) is not a record type: it is a letter, then letters, "
                    + "digits and '_', at most \(Bounds.nameBytesMax) characters"
            )
        }
        let zoneID = self.storedID.zoneID
        guard zoneID.zoneName == CKRecordZoneID.defaultZoneName || NameRules.isItemName(zoneID.zoneName)
        else {
            throw ValueRefusal(
                "\(NameRules.quoted(zoneID.zoneName)) is not a zone name: it has 1 to "
                    + "\(Bounds.nameBytesMax) printable ASCII characters and does not start with '_'"
            )
        }
        let name = self.storedID.recordName
        guard NameRules.isRecordName(name) || NameRules.isUserRecordName(name) else {
            throw ValueRefusal(
                "\(NameRules.quoted(name)) is not a record name: \(NameRules.recordNameRule)"
            )
        }
    }
}

extension RecordState {
    /// Reads a server's record.
    fileprivate init(
        _ record: Record,
        _ contents: BodyContents,
        in zone: CKRecordZoneID,
        currentUser: String?
    ) {
        self.init(
            system: SystemState(changeTag: record.changeTag, system: record.system, currentUser: currentUser),
            table: FieldTable(record.body, contents, in: zone)
        )
        self.serverParent = record.parent
        self.serverBody = record.body
        guard record.recordType == ShareRecord.type else { return }
        var share: Share?
        if let slice = record.body.slice(named: ShareRecord.contentsField),
            case .bytes(let bytes) = record.body.value(of: slice)
        {
            share = try? Share(decoding: bytes)
        }
        self.sharing = share.map { ShareState($0) } ?? ShareState(newFor: nil)
    }
}

extension CKError {
    fileprivate init(refusing refusal: ValueRefusal, of recordID: CKRecordID) {
        let message = "\(refusal.text) (record \(NameRules.quoted(recordID.recordName)))"
        var userInfo = Self.userInfo(code: refusal.code, message: message)
        userInfo[Self.retryAdviceKey] = CKRetryAdvice.afterChange
        userInfo[Self.batchCauseKey] = CKBatchCause.culprit
        self.init(refusal.code, userInfo: userInfo)
    }
}
