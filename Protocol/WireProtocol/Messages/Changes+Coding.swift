import NIOCore
import RecordModel

extension FetchChanges {
    init(_ message: consuming MessageReader) throws(WireError) {
        var scope: UInt32 = 0
        var zone: ZoneID?
        var token: [UInt8] = []
        var keys: [String]?
        var limit: UInt32 = 0
        var order: UInt32 = 0
        while let field = try message.next(Proto.FetchChanges.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .zone: zone = try ZoneID(message.message())
            case .token: token = try message.token()
            case .desiredKeys: keys = (keys ?? []) + (try [String](desiredKeys: message.message()))
            case .limit: limit = try message.uint32()
            case .order: order = try message.uint32()
            }
        }
        guard let zone else { throw WireError(.refused(.invalidArguments), field: "zone") }
        guard let order = UInt8(exactly: order).flatMap(SnapshotOrder.init(rawValue:)) else {
            throw WireError(.refused(.invalidArguments), field: "order")
        }
        self.init(
            scope: try DatabaseScope(number: scope),
            zone: zone,
            token: token,
            desiredKeys: keys,
            limit: limit,
            order: order
        )
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.FetchChanges.scope, self.scope.number)
        buffer.writeMessage(Proto.FetchChanges.zone) { self.zone.encode(into: &$0) }
        buffer.writeField(Proto.FetchChanges.token, self.token)
        buffer.writeDesiredKeys(Proto.FetchChanges.desiredKeys, self.desiredKeys)
        buffer.writeField(Proto.FetchChanges.limit, self.limit)
        buffer.writeField(Proto.FetchChanges.order, UInt32(self.order.rawValue))
    }
}

extension MessageReader {
    /// Reads a token; one that is too long is refused like a token of another server.
    fileprivate mutating func token() throws(WireError) -> [UInt8] {
        let token = try self.bytes()
        guard token.count <= Bounds.tokenBytesMax else {
            throw WireError(.refused(.changeTokenExpired), field: "token")
        }
        return token
    }
}

extension FetchDatabaseChanges {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private)
        var scope: UInt32 = 0
        while let field = try message.next(Proto.FetchDatabaseChanges.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .token: self.token = try message.token()
            case .limit: self.limit = try message.uint32()
            }
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.FetchDatabaseChanges.scope, self.scope.number)
        buffer.writeField(Proto.FetchDatabaseChanges.token, self.token)
        buffer.writeField(Proto.FetchDatabaseChanges.limit, self.limit)
    }
}

extension FetchToken {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private)
        var scope: UInt32 = 0
        while let field = try message.next(Proto.FetchToken.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .zone: self.zone = try ZoneID(message.message())
            }
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.FetchToken.scope, self.scope.number)
        if let zone { buffer.writeMessage(Proto.FetchToken.zone) { zone.encode(into: &$0) } }
    }
}

extension SnapshotTotals {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(records: 0, bytes: 0)
        while let field = try message.next(Proto.SnapshotTotals.self) {
            switch field {
            case .records: self.records = try message.varint()
            case .bytes: self.bytes = try message.varint()
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.SnapshotTotals.records, self.records)
        buffer.writeField(Proto.SnapshotTotals.bytes, self.bytes)
    }
}

extension DeletedRecord {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(id: .unnamed, recordType: "")
        var hasID = false
        while let field = try message.next(Proto.RecordDeleted.self) {
            switch field {
            case .id:
                try self.id.merge(message.message())
                hasID = true
            case .recordType: self.recordType = try message.text()
            }
        }
        guard hasID else { throw WireError(.missing, field: "id") }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeMessage(Proto.RecordDeleted.id) { self.id.encode(into: &$0) }
        buffer.writeField(Proto.RecordDeleted.recordType, self.recordType)
    }
}
