import NIOCore
import RecordModel

extension ShareChanges {
    /// Reads what a save changes of a share; bounds are checked, names are the store's to judge.
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init()
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: self.root = try message.text()
            case 0x10: self.publicPermission = try message.permission()
            case 0x18: self.allowsAccessRequests = try message.varint() != 0
            case 0x22: self.participants.append(try ShareParticipant(invited: message.bytes()))
            case 0x2A: self.removed.append(try message.participantID())
            case 0x32: self.denied.append(try message.name("denied"))
            case 0x3A: self.blocked.append(try message.name("blocked"))
            case 0x42: self.unblocked.append(try message.name("unblocked"))
            default: try message.skip(tag)
            }
            guard self.longestList <= Bounds.participantsMax else {
                throw WireError(.refused(.tooManyParticipants), field: "participants")
            }
        }
    }

    private var longestList: Int {
        max(
            self.participants.count,
            self.removed.count,
            max(self.denied.count, self.blocked.count, self.unblocked.count)
        )
    }

    func encode(into buffer: inout ByteBuffer) {
        if let root { buffer.writeElement(1, root) }
        if let publicPermission { buffer.writePresent(2, UInt64(publicPermission.rawValue)) }
        if let allowsAccessRequests { buffer.writePresent(3, allowsAccessRequests ? 1 : 0) }
        for participant in self.participants { buffer.writeMessage(4) { $0.writeBytes(participant.bytes) } }
        for id in self.removed { buffer.writeElement(5, id) }
        for name in self.denied { buffer.writeElement(6, name) }
        for name in self.blocked { buffer.writeElement(7, name) }
        for name in self.unblocked { buffer.writeElement(8, name) }
    }
}

extension ShareParticipant {
    /// Reads one that a client invites or changes.
    fileprivate init(invited bytes: [UInt8]) throws(WireError) {
        do throws(BodyError) {
            try self.init(decoding: bytes)
        } catch {
            throw WireError(.refused(.invalidArguments), field: "participant")
        }
        guard NameRules.isParticipantID(self.id) else {
            throw WireError(.refused(.invalidArguments), field: "id")
        }
    }

    /// Reads one that a server sent.
    init(ofServer bytes: [UInt8]) throws(WireError) {
        do throws(BodyError) {
            try self.init(decoding: bytes)
        } catch {
            throw WireError(.malformed, field: "participant")
        }
    }
}

extension ShareMetadata {
    init(_ message: consuming MessageReader) throws(WireError) {
        var share: Record?
        var root: Record?
        var container = ""
        var rootRecordName: String?
        var role: ShareRole?
        var acceptance: ShareAcceptance?
        var permission: SharePermission?
        var owner = UserIdentity()
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: container = try message.text()
            case 0x12: share = try Record(message.message())
            case 0x1A: rootRecordName = try message.text()
            case 0x22: root = try Record(message.message())
            case 0x28: role = try message.choice()
            case 0x30: acceptance = try message.choice()
            case 0x38: permission = try message.choice()
            case 0x42: owner = try UserIdentity(ofServer: message.bytes())
            default: try message.skip(tag)
            }
        }
        guard let share else { throw WireError(.missing, field: "share") }
        self.init(
            container: container,
            share: share,
            rootRecordName: rootRecordName,
            rootRecord: root,
            role: role ?? .unknown,
            acceptance: acceptance ?? .unknown,
            permission: permission ?? .unknown,
            owner: owner
        )
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.container)
        buffer.writeMessage(2) { self.share.encode(into: &$0) }
        if let rootRecordName { buffer.writeElement(3, rootRecordName) }
        if let rootRecord { buffer.writeMessage(4) { rootRecord.encode(into: &$0) } }
        buffer.writeField(5, UInt32(self.role.rawValue))
        buffer.writeField(6, UInt32(self.acceptance.rawValue))
        buffer.writeField(7, UInt32(self.permission.rawValue))
        buffer.writeMessage(8) { $0.writeBytes(self.owner.bytes) }
    }
}

extension UserIdentity {
    fileprivate init(ofServer bytes: [UInt8]) throws(WireError) {
        do throws(BodyError) {
            try self.init(decoding: bytes)
        } catch {
            throw WireError(.malformed, field: "identity")
        }
    }
}

extension MessageReader {
    /// A number that this version does not know reads as `nil`.
    fileprivate mutating func choice<Choice: RawRepresentable<UInt8>>() throws(WireError) -> Choice? {
        UInt8(exactly: try self.varint()).flatMap { Choice(rawValue: $0) }
    }

    fileprivate mutating func permission() throws(WireError) -> SharePermission {
        guard let permission: SharePermission = try self.choice() else {
            throw WireError(.refused(.invalidArguments), field: "public_permission")
        }
        return permission
    }

    fileprivate mutating func participantID() throws(WireError) -> String {
        let id = try self.text()
        guard NameRules.isParticipantID(id) else {
            throw WireError(.refused(.invalidArguments), field: "removed")
        }
        return id
    }

    /// 1 to 255 bytes.
    fileprivate mutating func name(_ field: StaticString) throws(WireError) -> String {
        let name = try self.text()
        guard (1...Bounds.nameBytesMax).contains(name.utf8.count) else {
            throw WireError(.refused(.invalidArguments), field: field)
        }
        return name
    }
}

extension ByteBuffer {
    /// Writes a number that is there even when it is 0.
    fileprivate mutating func writePresent(_ number: UInt8, _ value: UInt64) {
        self.writeInteger(number << 3)
        self.writeVarint(value)
    }
}
