import NIOCore
import RecordModel

extension Record {
    /// Reads a record that a server sent; `clear` has no place in it.
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(id: .unnamed, recordType: "", changeTag: "", system: .unknown, body: .empty)
        var hasID = false
        var fields: [UInt8] = []
        // Most records were changed by who created them, and that name is made once.
        var author = ""
        while let tag = try message.tag() {
            switch tag {
            case 0x0A:
                try self.id.merge(message.message())
                hasID = true
            case 0x12: self.recordType = try message.text()
            case 0x1A: self.changeTag = try message.text()
            case 0x20: self.system.createdMilliseconds = try message.int64()
            case 0x28: self.system.modifiedMilliseconds = try message.int64()
            case 0x32: self.system.createdBy = try message.text(orLast: &author)
            case 0x3A: self.system.modifiedBy = try message.text(orLast: &author)
            case 0x42:
                let parent = try message.text()
                self.parent = parent.isEmpty ? nil : parent
            case 0x4A: fields = try message.bytes()
            default: try message.skip(tag)
            }
        }
        guard hasID else { throw WireError(.missing, field: "id") }
        do throws(BodyError) {
            self.body = try RecordBody(checking: fields, allowsClear: false)
        } catch {
            throw WireError(.malformed, field: "fields")
        }
    }
}

extension SystemFields {
    fileprivate static let unknown = SystemFields(
        createdMilliseconds: 0,
        modifiedMilliseconds: 0,
        createdBy: "",
        modifiedBy: ""
    )
}

extension RecordSaved {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(changeTag: "", system: .unknown)
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: self.changeTag = try message.text()
            case 0x10: self.system.createdMilliseconds = try message.int64()
            case 0x18: self.system.modifiedMilliseconds = try message.int64()
            case 0x22: self.system.createdBy = try message.text()
            case 0x2A: self.system.modifiedBy = try message.text()
            default: try message.skip(tag)
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.changeTag)
        buffer.writeField(2, self.system.createdMilliseconds)
        buffer.writeField(3, self.system.modifiedMilliseconds)
        buffer.writeField(4, self.system.createdBy)
        buffer.writeField(5, self.system.modifiedBy)
    }
}

extension Zone {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(id: .unnamed, capabilities: [])
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: try self.id.merge(message.message())
            case 0x10: self.capabilities = ZoneCapabilities(rawValue: try message.uint32())
            case 0x1A:
                let share = try message.text()
                self.share = share.isEmpty ? nil : share
            default: try message.skip(tag)
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeMessage(1) { self.id.encode(into: &$0) }
        buffer.writeField(2, self.capabilities.rawValue)
        buffer.writeField(3, self.share ?? "")
    }
}
