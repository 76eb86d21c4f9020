import NIOCore
import RecordModel

extension Record {
    /// Reads a record from a server; `clear` is not allowed in it.
    init(_ message: consuming MessageReader) throws(WireError) {
        var texts = SharedTexts()
        var contents = BodyContents()
        try self.init(message, &texts, &contents)
    }

    /// Does the same for one of several records, and notes the types of its values.
    init(
        _ message: consuming MessageReader,
        _ texts: inout SharedTexts,
        _ contents: inout BodyContents
    ) throws(WireError) {
        self.init(id: .unnamed, recordType: "", changeTag: "", system: .unknown, body: .empty)
        let fields = try self.readAllButFields(message, &texts)
        do throws(BodyError) {
            self.body = RecordBody(trusted: fields)
            contents = try self.body.check(allowsClear: false)
        } catch {
            throw WireError(.malformed, field: "fields")
        }
    }

    /// Reads a record that a server's disk may have damaged: without its fields, if they are
    /// malformed.
    ///
    /// - Throws: The sender's fault, if the record has no name, or another field is malformed.
    static func damaged(_ message: consuming MessageReader) throws(WireError) -> Record {
        var record = Record(id: .unnamed, recordType: "", changeTag: "", system: .unknown, body: .empty)
        var texts = SharedTexts()
        _ = try record.readAllButFields(message, &texts)
        guard !record.id.recordName.isEmpty else { throw WireError(.malformed, field: "fields") }
        return record
    }

    /// Reads all other fields, and returns the bytes of the fields.
    private mutating func readAllButFields(
        _ message: consuming MessageReader,
        _ texts: inout SharedTexts
    ) throws(WireError) -> [UInt8] {
        var hasID = false
        var fields: [UInt8] = []
        while let field = try message.next(Proto.Record.self) {
            switch field {
            case .id:
                try self.id.merge(message.message(), &texts)
                hasID = true
            case .recordType: self.recordType = try message.text(orLast: &texts.recordType)
            case .changeTag: self.changeTag = try message.text()
            case .createdMs: self.system.createdMilliseconds = try message.int64()
            case .modifiedMs: self.system.modifiedMilliseconds = try message.int64()
            case .createdBy: self.system.createdBy = try message.text(orLast: &texts.user)
            case .modifiedBy: self.system.modifiedBy = try message.text(orLast: &texts.user)
            case .parent:
                let parent = try message.text()
                self.parent = parent.isEmpty ? nil : parent
            case .fields: fields = try message.bytes()
            }
        }
        guard hasID else { throw WireError(.missing, field: "id") }
        return fields
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
    init(_ message: consuming MessageReader, _ texts: inout SharedTexts) throws(WireError) {
        self.init(changeTag: "", system: .unknown)
        while let field = try message.next(Proto.RecordSaved.self) {
            switch field {
            case .changeTag: self.changeTag = try message.text()
            case .createdMs: self.system.createdMilliseconds = try message.int64()
            case .modifiedMs: self.system.modifiedMilliseconds = try message.int64()
            case .createdBy: self.system.createdBy = try message.text(orLast: &texts.user)
            case .modifiedBy: self.system.modifiedBy = try message.text(orLast: &texts.user)
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.RecordSaved.changeTag, self.changeTag)
        buffer.writeField(Proto.RecordSaved.createdMs, self.system.createdMilliseconds)
        buffer.writeField(Proto.RecordSaved.modifiedMs, self.system.modifiedMilliseconds)
        buffer.writeField(Proto.RecordSaved.createdBy, self.system.createdBy)
        buffer.writeField(Proto.RecordSaved.modifiedBy, self.system.modifiedBy)
    }
}

extension Zone {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(id: .unnamed, capabilities: [])
        while let field = try message.next(Proto.Zone.self) {
            switch field {
            case .id: try self.id.merge(message.message())
            case .capabilities: self.capabilities = ZoneCapabilities(rawValue: try message.uint32())
            case .share:
                let share = try message.text()
                self.share = share.isEmpty ? nil : share
            case .perZone: self.encryptionScope = try message.bool() ? .perZone : .perRecord
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeMessage(Proto.Zone.id) { self.id.encode(into: &$0) }
        buffer.writeField(Proto.Zone.capabilities, self.capabilities.rawValue)
        buffer.writeField(Proto.Zone.share, self.share ?? "")
        buffer.writeField(Proto.Zone.perZone, self.encryptionScope == .perZone)
    }
}
