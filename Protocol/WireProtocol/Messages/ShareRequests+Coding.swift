import NIOCore
import RecordModel

extension AcceptShares {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(tokens: try message.tokens())
    }

    func encode(into buffer: inout ByteBuffer) { buffer.writeTokens(self.tokens) }
}

extension RequestShareAccess {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(tokens: try message.tokens())
    }

    func encode(into buffer: inout ByteBuffer) { buffer.writeTokens(self.tokens) }
}

extension FetchShareMetadata {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(tokens: [])
        while let tag = try message.tag() {
            switch tag {
            case 0x12: self.tokens.append(try message.shareToken())
            case 0x20: self.wantsRootRecords = try message.varint() != 0
            case 0x2A:
                self.desiredKeys = (self.desiredKeys ?? []) + (try [String](desiredKeys: message.message()))
            default: try message.skip(tag)
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeTokens(self.tokens)
        buffer.writeField(4, self.wantsRootRecords)
        buffer.writeDesiredKeys(5, self.desiredKeys)
    }
}

extension FetchShareParticipants {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(lookups: [])
        while let tag = try message.tag() {
            switch tag {
            case 0x12: self.lookups.append(try IdentityLookup(asked: message.bytes()))
            default: try message.skip(tag)
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        for lookup in self.lookups { buffer.writeMessage(2) { $0.writeBytes(lookup.bytes) } }
    }
}

extension IdentityLookup {
    /// Reads one that a client asks for: of one kind, and at most 255 bytes.
    fileprivate init(asked bytes: [UInt8]) throws(WireError) {
        do throws(BodyError) {
            try self.init(decoding: bytes)
        } catch {
            throw WireError(.refused(.invalidArguments), field: "lookup")
        }
    }
}

extension MessageReader {
    fileprivate mutating func shareToken() throws(WireError) -> String {
        let token = try self.text()
        guard (1...Bounds.shareTokenBytesMax).contains(token.utf8.count) else {
            throw WireError(.refused(.invalidArguments), field: "token")
        }
        return token
    }

    /// The tokens of a message that has nothing else.
    fileprivate consuming func tokens() throws(WireError) -> [String] {
        var tokens: [String] = []
        while let tag = try self.tag() {
            switch tag {
            case 0x12: tokens.append(try self.shareToken())
            default: try self.skip(tag)
            }
        }
        return tokens
    }
}

extension ByteBuffer {
    fileprivate mutating func writeTokens(_ tokens: [String]) {
        for token in tokens { self.writeElement(2, token) }
    }
}
