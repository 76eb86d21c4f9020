import NIOCore
import RecordModel

extension AcceptShares {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(tokens: [])
        while let field = try message.next(Proto.AcceptShares.self) {
            switch field {
            case .tokens: self.tokens.append(try message.shareToken())
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        for token in self.tokens { buffer.writeElement(Proto.AcceptShares.tokens, token) }
    }
}

extension RequestShareAccess {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(tokens: [])
        while let field = try message.next(Proto.RequestShareAccess.self) {
            switch field {
            case .tokens: self.tokens.append(try message.shareToken())
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        for token in self.tokens { buffer.writeElement(Proto.RequestShareAccess.tokens, token) }
    }
}

extension FetchShareMetadata {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(tokens: [])
        while let field = try message.next(Proto.FetchShareMetadata.self) {
            switch field {
            case .tokens: self.tokens.append(try message.shareToken())
            case .rootRecords: self.wantsRootRecords = try message.bool()
            case .desiredKeys:
                self.desiredKeys = (self.desiredKeys ?? []) + (try [String](desiredKeys: message.message()))
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        for token in self.tokens { buffer.writeElement(Proto.FetchShareMetadata.tokens, token) }
        buffer.writeField(Proto.FetchShareMetadata.rootRecords, self.wantsRootRecords)
        buffer.writeDesiredKeys(Proto.FetchShareMetadata.desiredKeys, self.desiredKeys)
    }
}

extension FetchShareParticipants {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(lookups: [])
        while let field = try message.next(Proto.FetchShareParticipants.self) {
            switch field {
            case .lookups: self.lookups.append(try IdentityLookup(asked: message.bytes()))
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        for lookup in self.lookups {
            buffer.writeElement(Proto.FetchShareParticipants.lookups, lookup.bytes.span)
        }
    }
}

extension IdentityLookup {
    /// Reads a lookup from a client: of one kind, and at most 255 bytes.
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
}
