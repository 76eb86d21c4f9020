/// The encoding of a share: message `Share` of `tidemark.proto`, both on disk and on the wire.
extension Share {
    package var bytes: [UInt8] {
        var writer = WireWriter()
        if let root { writer.text(number: 1, root) }
        writer.textUnlessEmpty(number: 2, self.token)
        writer.number(3, UInt64(self.publicPermission.rawValue))
        for participant in self.participants {
            writer.message(number: 4) { participant.write(to: &$0) }
        }
        writer.number(5, self.allowsAccessRequests ? 1 : 0)
        for requester in self.requesters { writer.message(number: 6) { requester.write(to: &$0) } }
        for identity in self.blocked { writer.message(number: 7) { identity.write(to: &$0) } }
        writer.textUnlessEmpty(number: 8, self.currentParticipantID)
        return writer.bytes
    }

    /// - Throws: `BodyError.malformed` if the bytes are not such a message.
    package init(decoding bytes: [UInt8]) throws(BodyError) {
        self.init(root: nil)
        var reader = WireReader(bytes)
        try reader.fields { tag, reader throws(BodyError) in
            switch tag {
            case 0x0A: self.root = try reader.text()
            case 0x12: self.token = try reader.text()
            case 0x18: self.publicPermission = try reader.choice() ?? .unknown
            case 0x22: self.participants.append(try reader.nested(ShareParticipant.init(reading:)))
            case 0x28: self.allowsAccessRequests = try reader.varint() != 0
            case 0x32: self.requesters.append(try reader.nested(UserIdentity.init(reading:)))
            case 0x3A: self.blocked.append(try reader.nested(UserIdentity.init(reading:)))
            case 0x42: self.currentParticipantID = try reader.text()
            default: return false
            }
            return true
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
        var reader = WireReader(bytes)
        try self.init(reading: &reader)
    }

    fileprivate func write(to writer: inout WireWriter) {
        writer.textUnlessEmpty(number: 1, self.id)
        writer.message(number: 2) { self.identity.write(to: &$0) }
        writer.number(3, UInt64(self.role.rawValue))
        writer.number(4, UInt64(self.permission.rawValue))
        writer.number(5, UInt64(self.acceptance.rawValue))
        writer.number(6, self.isApprovedRequester ? 1 : 0)
        writer.number(7, UInt64(bitPattern: self.addedMilliseconds))
        writer.textUnlessEmpty(number: 8, self.oneTimeToken)
    }

    fileprivate init(reading reader: inout WireReader) throws(BodyError) {
        self.init(
            id: "",
            identity: UserIdentity(),
            role: .unknown,
            permission: .unknown,
            acceptance: .unknown
        )
        try reader.fields { tag, reader throws(BodyError) in
            switch tag {
            case 0x0A: self.id = try reader.text()
            case 0x12: self.identity = try reader.nested(UserIdentity.init(reading:))
            case 0x18: self.role = try reader.choice() ?? .unknown
            case 0x20: self.permission = try reader.choice() ?? .unknown
            case 0x28: self.acceptance = try reader.choice() ?? .unknown
            case 0x30: self.isApprovedRequester = try reader.varint() != 0
            case 0x38: self.addedMilliseconds = Int64(bitPattern: try reader.varint())
            case 0x42: self.oneTimeToken = try reader.text()
            default: return false
            }
            return true
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
        var reader = WireReader(bytes)
        try self.init(reading: &reader)
    }

    fileprivate func write(to writer: inout WireWriter) {
        writer.textUnlessEmpty(number: 1, self.userRecordName)
        if let lookup { writer.message(number: 2) { lookup.write(to: &$0) } }
    }

    fileprivate init(reading reader: inout WireReader) throws(BodyError) {
        self.init()
        try reader.fields { tag, reader throws(BodyError) in
            switch tag {
            case 0x0A: self.userRecordName = try reader.text()
            case 0x12: self.lookup = try reader.nested(IdentityLookup.init(reading:))
            default: return false
            }
            return true
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
        var reader = WireReader(bytes)
        try self.init(reading: &reader)
    }

    fileprivate func write(to writer: inout WireWriter) {
        switch self {
        case .emailAddress(let address): writer.text(number: 1, address)
        case .phoneNumber(let number): writer.text(number: 2, number)
        case .userRecordName(let name): writer.text(number: 3, name)
        }
    }

    fileprivate init(reading reader: inout WireReader) throws(BodyError) {
        var lookup: IdentityLookup?
        try reader.fields { tag, reader throws(BodyError) in
            switch tag {
            case 0x0A: lookup = .emailAddress(try reader.text())
            case 0x12: lookup = .phoneNumber(try reader.text())
            case 0x1A: lookup = .userRecordName(try reader.text())
            default: return false
            }
            return true
        }
        guard let lookup else { throw .malformed }
        self = lookup
    }
}

extension WireWriter {
    fileprivate mutating func textUnlessEmpty(number: UInt8, _ text: String) {
        if !text.isEmpty { self.text(number: number, text) }
    }

    /// Omits 0.
    fileprivate mutating func number(_ number: UInt8, _ value: UInt64) {
        guard value != 0 else { return }
        self.tag(number: number, wireType: 0)
        self.varint(value)
    }
}

extension WireReader {
    /// Reads the known fields of a message, and skips the others.
    fileprivate mutating func fields(
        _ read: (UInt64, inout Self) throws(BodyError) -> Bool
    ) throws(BodyError) {
        while !self.isAtEnd {
            let tag = try self.varint()
            guard try !read(tag, &self) else { continue }
            _ = try self.value(ofWireType: UInt8(tag & 7))
        }
    }

    fileprivate mutating func nested<Value>(
        _ read: (inout Self) throws(BodyError) -> Value
    ) throws(BodyError) -> Value {
        let outer = try self.enter()
        let value = try read(&self)
        try self.leave(to: outer)
        return value
    }

    /// At most 255 bytes of UTF-8.
    fileprivate mutating func text() throws(BodyError) -> String {
        let range = try self.delimited()
        guard range.count <= Bounds.nameBytesMax,
            let text = String(validating: self.bytes[range], as: UTF8.self)
        else { throw .malformed }
        return text
    }

    fileprivate mutating func choice<Choice: RawRepresentable<UInt8>>() throws(BodyError) -> Choice? {
        UInt8(exactly: try self.varint()).flatMap { Choice(rawValue: $0) }
    }
}
