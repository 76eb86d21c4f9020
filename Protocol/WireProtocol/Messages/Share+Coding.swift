import NIOCore
import RecordModel

extension ShareChanges {
    /// Reads the changes of a share; bounds are checked here, names by the store.
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init()
        while let field = try message.next(Proto.ShareChanges.self) {
            switch field {
            case .root: self.root = try message.text()
            case .publicPermission: self.publicPermission = try message.permission()
            case .allowsAccessRequests: self.allowsAccessRequests = try message.bool()
            case .participants: self.participants.append(try ShareParticipant(invited: message.bytes()))
            case .removed: self.removed.append(try message.participantID())
            case .denied: self.denied.append(try message.name("denied"))
            case .blocked: self.blocked.append(try message.name("blocked"))
            case .unblocked: self.unblocked.append(try message.name("unblocked"))
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
        if let root { buffer.writeElement(Proto.ShareChanges.root, root) }
        if let publicPermission {
            buffer.writePresent(Proto.ShareChanges.publicPermission, UInt64(publicPermission.rawValue))
        }
        if let allowsAccessRequests {
            buffer.writePresent(Proto.ShareChanges.allowsAccessRequests, allowsAccessRequests)
        }
        for participant in self.participants {
            buffer.writeElement(Proto.ShareChanges.participants, participant.bytes.span)
        }
        for id in self.removed { buffer.writeElement(Proto.ShareChanges.removed, id) }
        for name in self.denied { buffer.writeElement(Proto.ShareChanges.denied, name) }
        for name in self.blocked { buffer.writeElement(Proto.ShareChanges.blocked, name) }
        for name in self.unblocked { buffer.writeElement(Proto.ShareChanges.unblocked, name) }
    }
}

extension ShareParticipant {
    /// Reads a participant that a client invites or changes.
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

    /// Reads a participant from a server.
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
        while let field = try message.next(Proto.ShareMetadata.self) {
            switch field {
            case .container: container = try message.text()
            case .share: share = try Record(message.message())
            case .rootRecordName: rootRecordName = try message.text()
            case .rootRecord: root = try Record(message.message())
            case .role: role = try message.choice()
            case .acceptance: acceptance = try message.choice()
            case .permission: permission = try message.choice()
            case .owner: owner = try UserIdentity(ofServer: message.bytes())
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
        buffer.writeField(Proto.ShareMetadata.container, self.container)
        buffer.writeMessage(Proto.ShareMetadata.share) { self.share.encode(into: &$0) }
        if let rootRecordName { buffer.writeElement(Proto.ShareMetadata.rootRecordName, rootRecordName) }
        if let rootRecord {
            buffer.writeMessage(Proto.ShareMetadata.rootRecord) { rootRecord.encode(into: &$0) }
        }
        buffer.writeField(Proto.ShareMetadata.role, UInt32(self.role.rawValue))
        buffer.writeField(Proto.ShareMetadata.acceptance, UInt32(self.acceptance.rawValue))
        buffer.writeField(Proto.ShareMetadata.permission, UInt32(self.permission.rawValue))
        buffer.writeElement(Proto.ShareMetadata.owner, self.owner.bytes.span)
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
    /// An unknown number reads as `nil`.
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
