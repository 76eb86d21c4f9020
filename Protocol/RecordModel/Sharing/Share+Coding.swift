/// The encoding of a share: message `Share` of `tidemark.proto`, both on disk and on the wire.
extension Share {
    package var bytes: [UInt8] {
        var writer = WireWriter()
        if let root { writer.writeElement(Proto.Share.root, root) }
        writer.writeField(Proto.Share.token, self.token)
        writer.writeField(Proto.Share.publicPermission, UInt32(self.publicPermission.rawValue))
        for participant in self.participants {
            writer.writeMessage(Proto.Share.participants) { participant.write(to: &$0) }
        }
        writer.writeField(Proto.Share.allowsAccessRequests, self.allowsAccessRequests)
        for requester in self.requesters {
            writer.writeMessage(Proto.Share.requesters) { requester.write(to: &$0) }
        }
        for identity in self.blocked {
            writer.writeMessage(Proto.Share.blocked) { identity.write(to: &$0) }
        }
        writer.writeField(Proto.Share.currentParticipantID, self.currentParticipantID)
        return writer.bytes
    }

    /// - Throws: `BodyError.malformed` if the bytes are not such a message.
    package init(decoding bytes: [UInt8]) throws(BodyError) {
        self.init(root: nil)
        var reader = BodyReader(bytes.span)
        while let field = try reader.nextKnown(Proto.Share.self) {
            switch field {
            case .root: self.root = try reader.name(bytesMax: Bounds.recordNameBytesMax)
            case .token: self.token = try reader.name()
            case .publicPermission: self.publicPermission = try reader.choice() ?? .unknown
            case .participants: self.participants.append(try ShareParticipant(reading: reader.message()))
            case .allowsAccessRequests: self.allowsAccessRequests = try reader.varint() != 0
            case .requesters: self.requesters.append(try UserIdentity(reading: reader.message()))
            case .blocked: self.blocked.append(try UserIdentity(reading: reader.message()))
            case .currentParticipantID: self.currentParticipantID = try reader.name()
            }
            guard self.participants.count <= Bounds.participantsMax,
                self.requesters.count <= Bounds.shareRequestersMax,
                self.blocked.count <= Bounds.shareRequestersMax
            else { throw .malformed }
        }
    }
}

extension ShareParticipant {
    package var bytes: [UInt8] {
        var writer = WireWriter()
        self.write(to: &writer)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8]) throws(BodyError) {
        try self.init(reading: BodyReader(bytes.span))
    }

    fileprivate func write(to writer: inout WireWriter) {
        writer.writeField(Proto.Participant.id, self.id)
        writer.writeMessage(Proto.Participant.identity) { self.identity.write(to: &$0) }
        writer.writeField(Proto.Participant.role, UInt32(self.role.rawValue))
        writer.writeField(Proto.Participant.permission, UInt32(self.permission.rawValue))
        writer.writeField(Proto.Participant.acceptance, UInt32(self.acceptance.rawValue))
        writer.writeField(Proto.Participant.approvedRequester, self.isApprovedRequester)
        writer.writeField(Proto.Participant.addedMs, self.addedMilliseconds)
        writer.writeField(Proto.Participant.oneTimeToken, self.oneTimeToken)
    }

    fileprivate init(reading reader: consuming BodyReader) throws(BodyError) {
        self.init(
            id: "",
            identity: UserIdentity(),
            role: .unknown,
            permission: .unknown,
            acceptance: .unknown
        )
        while let field = try reader.nextKnown(Proto.Participant.self) {
            switch field {
            case .id: self.id = try reader.name()
            case .identity: self.identity = try UserIdentity(reading: reader.message())
            case .role: self.role = try reader.choice() ?? .unknown
            case .permission: self.permission = try reader.choice() ?? .unknown
            case .acceptance: self.acceptance = try reader.choice() ?? .unknown
            case .approvedRequester: self.isApprovedRequester = try reader.varint() != 0
            case .addedMs: self.addedMilliseconds = Int64(bitPattern: try reader.varint())
            case .oneTimeToken: self.oneTimeToken = try reader.name()
            }
        }
    }
}

extension UserIdentity {
    package var bytes: [UInt8] {
        var writer = WireWriter()
        self.write(to: &writer)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8]) throws(BodyError) {
        try self.init(reading: BodyReader(bytes.span))
    }

    fileprivate func write(to writer: inout WireWriter) {
        writer.writeField(Proto.UserIdentity.userRecordName, self.userRecordName)
        if let lookup { writer.writeMessage(Proto.UserIdentity.lookup) { lookup.write(to: &$0) } }
    }

    fileprivate init(reading reader: consuming BodyReader) throws(BodyError) {
        self.init()
        while let field = try reader.nextKnown(Proto.UserIdentity.self) {
            switch field {
            case .userRecordName: self.userRecordName = try reader.name()
            case .lookup: self.lookup = try IdentityLookup(reading: reader.message())
            }
        }
    }
}

extension IdentityLookup {
    package var bytes: [UInt8] {
        var writer = WireWriter()
        self.write(to: &writer)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8]) throws(BodyError) {
        try self.init(reading: BodyReader(bytes.span))
    }

    fileprivate func write(to writer: inout WireWriter) {
        switch self {
        case .emailAddress(let address): writer.writeElement(Proto.IdentityLookup.emailAddress, address)
        case .phoneNumber(let number): writer.writeElement(Proto.IdentityLookup.phoneNumber, number)
        case .userRecordName(let name): writer.writeElement(Proto.IdentityLookup.userRecordName, name)
        }
    }

    fileprivate init(reading reader: consuming BodyReader) throws(BodyError) {
        var lookup: IdentityLookup?
        while let field = try reader.nextKnown(Proto.IdentityLookup.self) {
            switch field {
            case .emailAddress: lookup = .emailAddress(try reader.name())
            case .phoneNumber: lookup = .phoneNumber(try reader.name())
            case .userRecordName: lookup = .userRecordName(try reader.name())
            }
        }
        guard let lookup else { throw .malformed }
        self = lookup
    }
}

extension BodyReader {
    /// At most 255 bytes of UTF-8, unless it is the name of a record.
    fileprivate mutating func name(bytesMax: Int = Bounds.nameBytesMax) throws(BodyError) -> String {
        let range = try self.delimited()
        guard range.count <= bytesMax, let text = self.bytes.text(range) else {
            throw .malformed
        }
        return text
    }

    fileprivate mutating func choice<Choice: RawRepresentable<UInt8>>() throws(BodyError) -> Choice? {
        UInt8(exactly: try self.varint()).flatMap { Choice(rawValue: $0) }
    }
}
