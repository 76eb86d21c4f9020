import NIOCore
import RecordModel

extension ModifyRecords {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, saves: [], isAtomic: false)
        var scope: UInt32 = 0
        var policy: UInt32 = 0
        while let field = try message.next(Proto.ModifyRecords.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .saves: self.saves.append(try RecordSave(message.message()))
            case .deletes: self.deletes.append(try RecordID(message.message()))
            case .policy: policy = try message.uint32()
            case .atomic: self.isAtomic = try message.bool()
            case .clientToken: self.clientToken = try message.bytes()
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
        buffer.writeField(Proto.ModifyRecords.scope, self.scope.number)
        for save in self.saves { buffer.writeMessage(Proto.ModifyRecords.saves) { save.encode(into: &$0) } }
        for id in self.deletes { buffer.writeMessage(Proto.ModifyRecords.deletes) { id.encode(into: &$0) } }
        buffer.writeField(Proto.ModifyRecords.policy, UInt32(self.policy.rawValue))
        buffer.writeField(Proto.ModifyRecords.atomic, self.isAtomic)
        buffer.writeField(Proto.ModifyRecords.clientToken, self.clientToken)
    }
}

extension RecordSave {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(id: .unnamed, recordType: "", changes: .empty)
        var fields: [UInt8] = []
        while let field = try message.next(Proto.RecordSave.self) {
            switch field {
            case .id: try self.id.merge(message.message())
            case .recordType: self.recordType = try message.text()
            case .changeTag:
                let changeTag = try message.text()
                self.changeTag = changeTag.isEmpty ? nil : changeTag
            case .fields: fields = try message.bytes()
            case .parent:
                let parent = try message.text()
                self.parent = parent.isEmpty ? .removed : .set(recordName: parent)
            case .share: self.share = .changes(try ShareChanges(message.message()))
            }
        }
        do throws(BodyError) {
            self.changes = try RecordBody(checking: fields, allowsClear: true)
        } catch {
            self.changesError = error
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeMessage(Proto.RecordSave.id) { self.id.encode(into: &$0) }
        buffer.writeField(Proto.RecordSave.recordType, self.recordType)
        buffer.writeField(Proto.RecordSave.changeTag, self.changeTag ?? "")
        buffer.writeField(Proto.RecordSave.fields, self.changes.bytes)
        switch self.parent {
        case .unchanged: break
        case .removed: buffer.writeElement(Proto.RecordSave.parent, "")
        case .set(let recordName): buffer.writeElement(Proto.RecordSave.parent, recordName)
        }
        switch self.share {
        case .none: break
        case .changes(let changes): buffer.writeMessage(Proto.RecordSave.share) { changes.encode(into: &$0) }
        }
    }
}

extension FetchRecords {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, ids: [])
        var scope: UInt32 = 0
        while let field = try message.next(Proto.FetchRecords.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .ids: self.ids.append(try RecordID(message.message()))
            case .desiredKeys:
                self.desiredKeys = (self.desiredKeys ?? []) + (try [String](desiredKeys: message.message()))
            }
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.FetchRecords.scope, self.scope.number)
        for id in self.ids { buffer.writeMessage(Proto.FetchRecords.ids) { id.encode(into: &$0) } }
        buffer.writeDesiredKeys(Proto.FetchRecords.desiredKeys, self.desiredKeys)
    }
}

extension [String] {
    init(desiredKeys message: consuming MessageReader) throws(WireError) {
        self = []
        while let field = try message.next(Proto.DesiredKeys.self) {
            switch field {
            case .keys: self.append(try message.text())
            }
        }
    }
}

extension ByteBuffer {
    /// `nil`, for all fields, is encoded as absent.
    mutating func writeDesiredKeys(_ field: some WireField, _ keys: [String]?) {
        guard let keys else { return }
        self.writeMessage(field) { for key in keys { $0.writeElement(Proto.DesiredKeys.keys, key) } }
    }
}

extension ModifyZones {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, saves: [])
        var scope: UInt32 = 0
        while let field = try message.next(Proto.ModifyZones.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .saves: self.saves.append(try ZoneSave(message.message()))
            case .deletes: self.deletes.append(try ZoneID(message.message()))
            }
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.ModifyZones.scope, self.scope.number)
        for save in self.saves { buffer.writeMessage(Proto.ModifyZones.saves) { save.encode(into: &$0) } }
        for id in self.deletes { buffer.writeMessage(Proto.ModifyZones.deletes) { id.encode(into: &$0) } }
    }
}

extension ZoneSave {
    fileprivate init(_ message: consuming MessageReader) throws(WireError) {
        self.init(id: .unnamed)
        while let field = try message.next(Proto.ZoneSave.self) {
            switch field {
            case .zoneName: self.id.zoneName = try message.text()
            case .ownerName: self.id.ownerName = try message.text()
            case .perZone: self.encryptionScope = try message.bool() ? .perZone : .perRecord
            }
        }
    }

    fileprivate func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.ZoneSave.zoneName, self.id.zoneName)
        buffer.writeField(Proto.ZoneSave.ownerName, self.id.ownerName)
        buffer.writeField(Proto.ZoneSave.perZone, self.encryptionScope == .perZone)
    }
}

extension FetchZones {
    init(_ message: consuming MessageReader) throws(WireError) {
        var scope: UInt32 = 0
        var ids: [ZoneID] = []
        var isAll = false
        while let field = try message.next(Proto.FetchZones.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .ids: ids.append(try ZoneID(message.message()))
            case .all: isAll = try message.bool()
            }
        }
        guard !isAll || ids.isEmpty else { throw WireError(.refused(.invalidArguments), field: "ids") }
        self.init(scope: try DatabaseScope(number: scope), selection: isAll ? .all : .ids(ids))
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.FetchZones.scope, self.scope.number)
        switch self.selection {
        case .all: buffer.writeField(Proto.FetchZones.all, true)
        case .ids(let ids):
            for id in ids { buffer.writeMessage(Proto.FetchZones.ids) { id.encode(into: &$0) } }
        }
    }
}
