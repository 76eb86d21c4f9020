import NIOCore
import RecordModel

extension ModifyRecords {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, saves: [], isAtomic: false)
        var scope: UInt32 = 0
        var policy: UInt32 = 0
        while let tag = try message.tag() {
            switch tag {
            case 0x08: scope = try message.uint32()
            case 0x12: self.saves.append(try RecordSave(message.message()))
            case 0x1A: self.deletes.append(try RecordID(message.message()))
            case 0x20: policy = try message.uint32()
            case 0x28: self.isAtomic = try message.varint() != 0
            case 0x32: self.clientToken = try message.bytes()
            default: try message.skip(tag)
            }
        }
        guard let policy = UInt8(exactly: policy).flatMap(Policy.init(rawValue:)) else {
            throw WireError(.refused(.invalidArguments), field: "policy")
        }
        guard self.clientToken.count <= Bounds.clientTokenBytesMax else {
            throw WireError(.refused(.invalidArguments), field: "client_token")
        }
        self.policy = policy
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.scope.number)
        for save in self.saves { buffer.writeMessage(2) { save.encode(into: &$0) } }
        for id in self.deletes { buffer.writeMessage(3) { id.encode(into: &$0) } }
        buffer.writeField(4, UInt32(self.policy.rawValue))
        buffer.writeField(5, self.isAtomic)
        buffer.writeField(6, self.clientToken)
    }
}

extension RecordSave {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(id: .unnamed, recordType: "", changes: .empty)
        var fields: [UInt8] = []
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: try self.id.merge(message.message())
            case 0x12: self.recordType = try message.text()
            case 0x1A:
                let changeTag = try message.text()
                self.changeTag = changeTag.isEmpty ? nil : changeTag
            case 0x22: fields = try message.bytes()
            case 0x2A:
                let parent = try message.text()
                self.parent = parent.isEmpty ? .removed : .set(recordName: parent)
            case 0x32: self.share = .changes(try ShareChanges(message.message()))
            default: try message.skip(tag)
            }
        }
        do throws(BodyError) {
            self.changes = try RecordBody(checking: fields, allowsClear: true)
        } catch {
            self.changesError = error
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeMessage(1) { self.id.encode(into: &$0) }
        buffer.writeField(2, self.recordType)
        buffer.writeField(3, self.changeTag ?? "")
        buffer.writeField(4, self.changes.bytes)
        switch self.parent {
        case .unchanged: break
        case .removed: buffer.writeElement(5, "")
        case .set(let recordName): buffer.writeElement(5, recordName)
        }
        switch self.share {
        case .none: break
        case .changes(let changes): buffer.writeMessage(6) { changes.encode(into: &$0) }
        }
    }
}

extension FetchRecords {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, ids: [])
        var scope: UInt32 = 0
        while let tag = try message.tag() {
            switch tag {
            case 0x08: scope = try message.uint32()
            case 0x12: self.ids.append(try RecordID(message.message()))
            case 0x1A:
                self.desiredKeys = (self.desiredKeys ?? []) + (try [String](desiredKeys: message.message()))
            default: try message.skip(tag)
            }
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.scope.number)
        for id in self.ids { buffer.writeMessage(2) { id.encode(into: &$0) } }
        buffer.writeDesiredKeys(3, self.desiredKeys)
    }
}

extension [String] {
    init(desiredKeys message: consuming MessageReader) throws(WireError) {
        self = []
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: self.append(try message.text())
            default: try message.skip(tag)
            }
        }
    }
}

extension ByteBuffer {
    /// `nil` is absent: all fields.
    mutating func writeDesiredKeys(_ number: UInt8, _ keys: [String]?) {
        guard let keys else { return }
        self.writeMessage(number) { for key in keys { $0.writeElement(1, key) } }
    }
}

extension ModifyZones {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, saves: [])
        var scope: UInt32 = 0
        while let tag = try message.tag() {
            switch tag {
            case 0x08: scope = try message.uint32()
            case 0x12: self.saves.append(try ZoneID(message.message()))
            case 0x1A: self.deletes.append(try ZoneID(message.message()))
            default: try message.skip(tag)
            }
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.scope.number)
        for id in self.saves { buffer.writeMessage(2) { id.encode(into: &$0) } }
        for id in self.deletes { buffer.writeMessage(3) { id.encode(into: &$0) } }
    }
}

extension FetchZones {
    init(_ message: consuming MessageReader) throws(WireError) {
        var scope: UInt32 = 0
        var ids: [ZoneID] = []
        var isAll = false
        while let tag = try message.tag() {
            switch tag {
            case 0x08: scope = try message.uint32()
            case 0x12: ids.append(try ZoneID(message.message()))
            case 0x18: isAll = try message.varint() != 0
            default: try message.skip(tag)
            }
        }
        guard !isAll || ids.isEmpty else { throw WireError(.refused(.invalidArguments), field: "ids") }
        self.init(scope: try DatabaseScope(number: scope), selection: isAll ? .all : .ids(ids))
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.scope.number)
        switch self.selection {
        case .all: buffer.writeField(3, true)
        case .ids(let ids): for id in ids { buffer.writeMessage(2) { id.encode(into: &$0) } }
        }
    }
}
