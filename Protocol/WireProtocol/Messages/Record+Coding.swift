import NIOCore
import RecordModel

/// Texts of the record that was read last: most records of an answer have its zone, its type and its authors, and those are made once.
struct LastTexts {
    var zoneName = ""
    var recordType = ""
    var author = ""
}

extension Record {
    /// Reads a record that a server sent; `clear` has no place in it.
    init(_ message: consuming MessageReader, _ texts: inout LastTexts) throws(WireError) {
        self.init(id: .unnamed, recordType: "", changeTag: "", system: .unknown, body: .empty)
        var hasID = false
        var fields: [UInt8] = []
        while let tag = try message.tag() {
            switch tag {
            case 0x0A:
                try self.id.merge(message.message(), &texts.zoneName)
                hasID = true
            case 0x12: self.recordType = try message.text(orLast: &texts.recordType)
            case 0x1A: self.changeTag = try message.text()
            case 0x20: self.system.createdMilliseconds = try message.int64()
            case 0x28: self.system.modifiedMilliseconds = try message.int64()
            case 0x32: self.system.createdBy = try message.text(orLast: &texts.author)
            case 0x3A: self.system.modifiedBy = try message.text(orLast: &texts.author)
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
        var lastName = ""
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: try self.id.merge(message.message(), &lastName)
            case 0x10: self.capabilities = ZoneCapabilities(rawValue: try message.uint32())
            default: try message.skip(tag)
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeMessage(1) { self.id.encode(into: &$0) }
        buffer.writeField(2, self.capabilities.rawValue)
    }
}
