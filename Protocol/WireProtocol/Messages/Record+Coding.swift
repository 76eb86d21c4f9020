import struct Foundation.Data
import RecordModel

extension Record {
    /// Reads a record that a server sent; `clear` has no place in it.
    init(_ message: PBRecord) throws(WireError) {
        guard message.hasID else { throw WireError(.missing, field: "id") }
        let body: RecordBody
        do throws(BodyError) {
            body = try RecordBody(checking: [UInt8](message.fields), allowsClear: false)
        } catch {
            throw WireError(.malformed, field: "fields")
        }
        self.init(
            id: RecordID(message.id),
            recordType: message.recordType,
            changeTag: message.changeTag,
            system: SystemFields(
                createdMilliseconds: message.createdMs,
                modifiedMilliseconds: message.modifiedMs,
                createdBy: message.createdBy,
                modifiedBy: message.modifiedBy
            ),
            parent: message.parent.isEmpty ? nil : message.parent,
            body: body
        )
    }

    var generated: PBRecord {
        var message = PBRecord()
        message.id = self.id.generated
        message.recordType = self.recordType
        message.changeTag = self.changeTag
        message.createdMs = self.system.createdMilliseconds
        message.modifiedMs = self.system.modifiedMilliseconds
        message.createdBy = self.system.createdBy
        message.modifiedBy = self.system.modifiedBy
        message.parent = self.parent ?? ""
        message.fields = Data(self.body.bytes)
        return message
    }
}

extension RecordSaved {
    init(_ message: PBRecordSaved) {
        self.init(
            changeTag: message.changeTag,
            system: SystemFields(
                createdMilliseconds: message.createdMs,
                modifiedMilliseconds: message.modifiedMs,
                createdBy: message.createdBy,
                modifiedBy: message.modifiedBy
            )
        )
    }

    var generated: PBRecordSaved {
        var message = PBRecordSaved()
        message.changeTag = self.changeTag
        message.createdMs = self.system.createdMilliseconds
        message.modifiedMs = self.system.modifiedMilliseconds
        message.createdBy = self.system.createdBy
        message.modifiedBy = self.system.modifiedBy
        return message
    }
}

extension Zone {
    init(_ message: PBZone) {
        self.init(
            id: ZoneID(message.id),
            capabilities: ZoneCapabilities(rawValue: message.capabilities)
        )
    }

    var generated: PBZone {
        var message = PBZone()
        message.id = self.id.generated
        message.capabilities = self.capabilities.rawValue
        return message
    }
}
