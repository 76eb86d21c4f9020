import Foundation
import RecordModel

/// A record in an archive: its parts, written and read.
struct RecordArchive {
    let recordType: String
    let recordID: CKRecordID
    let system: SystemState
    let parent: CKReference?
    let parentIsChanged: Bool
    let table: FieldTable
    let ancestor: Record?

    init?(_ coder: NSCoder) {
        guard let body = coder.archivedBody(), let recordType = body.text("recordType"),
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
        self.system = system
        self.parent = Self.parent(body, in: zoneID)
        self.parentIsChanged = body.integer("parentIsChanged") == 1
        guard let table = FieldTable(body, in: zoneID) else { return nil }
        self.table = table
        self.ancestor = Self.ancestor(
            body,
            id: self.recordID.model,
            recordType: recordType,
            system: system
        )
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

    private static func ancestor(
        _ body: ArchivedBody,
        id: RecordID,
        recordType: String,
        system: SystemState
    ) -> Record? {
        guard let changeTag = system.changeTag else { return nil }
        let fields = body.bytes("ancestor").flatMap {
            try? RecordBody(checking: $0, allowsClear: false)
        }
        return Record(
            id: id,
            recordType: recordType,
            changeTag: changeTag,
            system: SystemFields(
                createdMilliseconds: system.createdMilliseconds ?? 0,
                modifiedMilliseconds: system.modifiedMilliseconds ?? 0,
                createdBy: system.creator ?? "",
                modifiedBy: system.modifier ?? ""
            ),
            parent: body.text("ancestorParent"),
            body: fields ?? .empty
        )
    }

    /// What identifies a record and its state on the server.
    static func systemParts(of record: CKRecord) -> [Field] {
        let zoneID = record.recordID.zoneID
        var parts = [
            Field("recordType", .string(record.recordType)),
            Field("recordName", .string(record.recordID.recordName)),
            Field("zoneName", .string(zoneID.zoneName)),
            Field("ownerName", .string(zoneID.ownerName)),
        ]
        let system = record.system
        if let tag = system.changeTag { parts.append(Field("changeTag", .string(tag))) }
        if let created = system.createdMilliseconds { parts.append(Field("created", .int64(created))) }
        if let modified = system.modifiedMilliseconds { parts.append(Field("modified", .int64(modified))) }
        if let creator = system.creator { parts.append(Field("creator", .string(creator))) }
        if let modifier = system.modifier { parts.append(Field("modifier", .string(modifier))) }
        if let ancestorParent = record.ancestor?.parent {
            parts.append(Field("ancestorParent", .string(ancestorParent)))
        }
        if record.parentIsChanged { parts.append(Field("parentIsChanged", .int64(1))) }
        guard let parent = record.parent else { return parts }
        parts.append(Field("parent", .string(parent.recordID.recordName)))
        if parent.recordID.zoneID != zoneID {
            parts.append(Field("parentZoneName", .string(parent.recordID.zoneID.zoneName)))
            parts.append(Field("parentOwnerName", .string(parent.recordID.zoneID.ownerName)))
        }
        if parent.action == .deleteSelf { parts.append(Field("parentDeletesSelf", .int64(1))) }
        return parts
    }

    /// The values of a record, what changed in it and what it was before.
    static func contentParts(of record: CKRecord) -> [Field] {
        var parts = record.table.archiveParts
        if let ancestor = record.ancestor { parts.append(Field("ancestor", .bytes(ancestor.body.bytes))) }
        return parts
    }
}
