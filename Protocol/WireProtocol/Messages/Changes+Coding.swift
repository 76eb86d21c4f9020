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
        while let tag = try message.tag() {
            switch tag {
            case 0x08: scope = try message.uint32()
            case 0x12: zone = try ZoneID(message.message())
            case 0x1A: token = try message.token()
            case 0x22: keys = (keys ?? []) + (try [String](desiredKeys: message.message()))
            case 0x28: limit = try message.uint32()
            case 0x30: order = try message.uint32()
            default: try message.skip(tag)
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
        buffer.writeField(1, self.scope.number)
        buffer.writeMessage(2) { self.zone.encode(into: &$0) }
        buffer.writeField(3, self.token)
        buffer.writeDesiredKeys(4, self.desiredKeys)
        buffer.writeField(5, self.limit)
        buffer.writeField(6, UInt32(self.order.rawValue))
    }
}

extension MessageReader {
    /// A token that is too long is none of any server's, and refused like one that another server made.
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
        while let tag = try message.tag() {
            switch tag {
            case 0x08: scope = try message.uint32()
            case 0x12: self.token = try message.token()
            case 0x18: self.limit = try message.uint32()
            default: try message.skip(tag)
            }
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.scope.number)
        buffer.writeField(2, self.token)
        buffer.writeField(3, self.limit)
    }
}

extension FetchToken {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private)
        var scope: UInt32 = 0
        while let tag = try message.tag() {
            switch tag {
            case 0x08: scope = try message.uint32()
            case 0x12: self.zone = try ZoneID(message.message())
            default: try message.skip(tag)
            }
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.scope.number)
        if let zone { buffer.writeMessage(2) { zone.encode(into: &$0) } }
    }
}

extension SnapshotTotals {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(records: 0, bytes: 0)
        while let tag = try message.tag() {
            switch tag {
            case 0x08: self.records = try message.varint()
            case 0x10: self.bytes = try message.varint()
            default: try message.skip(tag)
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.records)
        buffer.writeField(2, self.bytes)
    }
}

extension DeletedRecord {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(id: .unnamed, recordType: "")
        var hasID = false
        while let tag = try message.tag() {
            switch tag {
            case 0x0A:
                try self.id.merge(message.message())
                hasID = true
            case 0x12: self.recordType = try message.text()
            default: try message.skip(tag)
            }
        }
        guard hasID else { throw WireError(.missing, field: "id") }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeMessage(1) { self.id.encode(into: &$0) }
        buffer.writeField(2, self.recordType)
    }
}
