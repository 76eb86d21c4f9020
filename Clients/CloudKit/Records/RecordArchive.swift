import Foundation
import RecordModel

/// A record in an archive: its parts, written and read.
struct RecordArchive {
    let recordType: String
    let recordID: CKRecordID
    let state: RecordState

    init(recordType: String, recordID: CKRecordID, state: RecordState) {
        self.recordType = recordType
        self.recordID = recordID
        self.state = state
    }

    /// Reads an archive of ours, or one of Apple's framework.
    init?(_ coder: NSCoder) {
        if let new = coder as? NewRecordCoder {
            self = new.archive
        } else if let body = coder.archivedBody() {
            self.init(body)
        } else {
            self.init(apple: coder)
        }
    }

    fileprivate init?(_ body: ArchivedBody) {
        guard let recordType = body.text("recordType"),
            let recordName = body.text("recordName"), let zoneName = body.text("zoneName"),
            let ownerName = body.text("ownerName")
        else {
            return nil
        }
        let zoneID = CKRecordZoneID(zoneName: zoneName, ownerName: ownerName)
        self.recordType = recordType
        self.recordID = CKRecordID(recordName: recordName, zoneID: zoneID)
        var system = SystemState()
        system.changeTag = body.text("changeTag")
        system.createdMilliseconds = body.integer("created")
        system.modifiedMilliseconds = body.integer("modified")
        system.creator = body.text("creator")
        system.modifier = body.text("modifier")
        guard let table = FieldTable(body, in: zoneID) else { return nil }
        var state = RecordState(system: system, table: table)
        let parent = Self.parent(body, in: zoneID).map { RecordState.Parent($0, in: zoneID) }
        _ = state.replaceParent(by: parent, isChange: body.integer("parentIsChanged") == 1)
        state.ownShare = body.text("share").map { name in
            CKReference(recordID: CKRecordID(recordName: name, zoneID: zoneID), action: .none)
        }
        if recordType == ShareRecord.type { state.sharing = ShareState(body) }
        if system.changeTag != nil {
            let fields = body.bytes("ancestor").flatMap { try? RecordBody(checking: $0, allowsClear: false) }
            state.serverBody = fields ?? .empty
            state.serverParent = body.text("ancestorParent")
        }
        self.state = state
    }

    private static func parent(_ body: ArchivedBody, in zoneID: CKRecordZoneID) -> CKReference? {
        guard let name = body.text("parent") else { return nil }
        let parentZoneID = CKRecordZoneID(
            zoneName: body.text("parentZoneName") ?? zoneID.zoneName,
            ownerName: body.text("parentOwnerName") ?? zoneID.ownerName
        )
        return CKReference(
            recordID: CKRecordID(recordName: name, zoneID: parentZoneID),
            action: body.integer("parentDeletesSelf") == 1 ? .deleteSelf : .none
        )
    }

    /// The parts that identify a record and its state on the server.
    var systemParts: [Field] {
        let zoneID = self.recordID.zoneID
        var parts = [
            Field("recordType", .string(self.recordType)),
            Field("recordName", .string(self.recordID.recordName)),
            Field("zoneName", .string(zoneID.zoneName)),
            Field("ownerName", .string(zoneID.ownerName)),
        ]
        let system = self.state.system
        if let tag = system.changeTag { parts.append(Field("changeTag", .string(tag))) }
        if let created = system.createdMilliseconds { parts.append(Field("created", .int64(created))) }
        if let modified = system.modifiedMilliseconds { parts.append(Field("modified", .int64(modified))) }
        if let creator = system.creator { parts.append(Field("creator", .string(creator))) }
        if let modifier = system.modifier { parts.append(Field("modifier", .string(modifier))) }
        if let ancestorParent = self.state.serverParent {
            parts.append(Field("ancestorParent", .string(ancestorParent)))
        }
        if self.state.parentIsChanged { parts.append(Field("parentIsChanged", .int64(1))) }
        if let share = self.state.share(in: zoneID)?.recordID.recordName {
            parts.append(Field("share", .string(share)))
        }
        if let sharing = self.state.sharing { parts += sharing.archiveParts }
        guard let parent = self.state.parent(in: zoneID) else { return parts }
        parts.append(Field("parent", .string(parent.recordID.recordName)))
        if parent.recordID.zoneID != zoneID {
            parts.append(Field("parentZoneName", .string(parent.recordID.zoneID.zoneName)))
            parts.append(Field("parentOwnerName", .string(parent.recordID.zoneID.ownerName)))
        }
        if parent.action == .deleteSelf { parts.append(Field("parentDeletesSelf", .int64(1))) }
        return parts
    }

    /// The values of a record, its changes and its ancestor.
    var contentParts: [Field] {
        var parts = self.state.table.archiveParts
        if let body = self.state.serverBody { parts.append(Field("ancestor", .bytes(body.bytes))) }
        return parts
    }
}

extension CKRecord {
    /// The record as the server had it last, as bytes without a coder; `nil` if it was never saved
    /// or fetched.
    package var servedBytes: [UInt8]? {
        let state = self.snapshot
        guard let body = state.serverBody else { return nil }
        let archive = RecordArchive(recordType: self.recordType, recordID: self.storedID, state: state)
        return RecordBody(archive.systemParts + [Field("ancestor", .bytes(body.bytes))]).bytes
    }

    /// Makes a record of `servedBytes`, without changes; `nil` if they are damaged.
    package static func served(_ bytes: [UInt8]) -> CKRecord? {
        guard let archive = ArchivedBody(bytes).flatMap({ RecordArchive($0) }),
            let body = archive.state.serverBody
        else { return nil }
        var state = archive.state
        state.table = FieldTable(body, body.contents, in: archive.recordID.zoneID)
        return CKRecord(storing: archive.recordType, recordID: archive.recordID, state: state)
    }
}
