package import NIOCore
package import RecordModel

extension Notification {
    /// Reads the payload of a `notification`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        guard payload.readableBytes <= Bounds.notificationBytesMax else {
            throw WireError(.outOfBounds, field: "notification")
        }
        do throws(WireError) {
            self = try payload.reading("notification") { message throws(WireError) in
                try Notification(&message)
            }
        } catch {
            throw error.ofServer
        }
    }

    private init(_ message: inout MessageReader) throws(WireError) {
        self.init(
            number: 0,
            subscriptionID: "",
            scope: .private,
            event: .database,
            owner: "",
            committedMilliseconds: 0
        )
        var scope: UInt32 = 0
        var event = EventFields()
        while let tag = try message.tag() {
            switch tag {
            case 0x08: self.number = try message.varint()
            case 0x12: self.subscriptionID = try message.text()
            case 0x18: scope = try message.uint32()
            case 0x20: event.kind = try message.uint32()
            case 0x2A: event.zone = try ZoneID(message.message())
            case 0x32: event.recordName = try message.text()
            case 0x38: event.reason = try message.uint32()
            case 0x42: event.fields = try message.bytes()
            case 0x48: self.isCoalesced = try message.varint() != 0
            case 0x52: self.owner = try message.text()
            case 0x5A: self.info = try NotificationInfo(unbounded: message.message())
            case 0x60: self.committedMilliseconds = try message.int64()
            case 0x68: self.isPruned = try message.varint() != 0
            default: try message.skip(tag)
            }
        }
        guard self.number > 0 else { throw WireError(.missing, field: "number") }
        guard !self.subscriptionID.isEmpty else { throw WireError(.missing, field: "subscription_id") }
        self.scope = try DatabaseScope(number: scope)
        self.event = try event.event
    }

    /// Of its encoding.
    package var byteCount: Int { self.encoded().readableBytes }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer()
        self.encode(into: &buffer)
        return buffer
    }

    /// Appends the encoded message; whoever makes it keeps it within `Bounds.notificationBytesMax`.
    package func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.number)
        buffer.writeField(2, self.subscriptionID)
        buffer.writeField(3, self.scope.number)
        self.event.encode(into: &buffer)
        buffer.writeField(9, self.isCoalesced)
        buffer.writeField(10, self.owner)
        if let info { buffer.writeMessage(11) { info.encode(into: &$0) } }
        buffer.writeField(12, self.committedMilliseconds)
        buffer.writeField(13, self.isPruned)
    }
}

extension Notification.Event {
    /// Fields 4 to 8 of the notification.
    fileprivate func encode(into buffer: inout ByteBuffer) {
        switch self {
        case .query(nil):
            buffer.writeField(4, 1 as UInt32)
        case .query(let change?):
            buffer.writeField(4, 1 as UInt32)
            buffer.writeMessage(5) { change.id.zone.encode(into: &$0) }
            buffer.writeField(6, change.id.recordName)
            buffer.writeField(7, UInt32(change.reason.rawValue))
            buffer.writeField(8, change.fields.bytes)
        case .zone(let zone):
            buffer.writeField(4, 2 as UInt32)
            buffer.writeMessage(5) { zone.encode(into: &$0) }
        case .database:
            buffer.writeField(4, 3 as UInt32)
        }
    }
}

/// What happened, as it is encoded: which of it counts depends on the kind.
private struct EventFields {
    var kind: UInt32 = 0
    var zone: ZoneID?
    var recordName = ""
    var reason: UInt32 = 0
    var fields: [UInt8] = []

    var event: Notification.Event {
        get throws(WireError) {
            switch self.kind {
            case 1: return .query(try self.change)
            case 2:
                guard let zone else { throw WireError(.missing, field: "zone") }
                return .zone(zone)
            case 3: return .database
            default: throw WireError(.unknownNumber, field: "kind")
            }
        }
    }

    private var change: Notification.RecordChange? {
        get throws(WireError) {
            guard !self.recordName.isEmpty else { return nil }
            guard let zone else { throw WireError(.missing, field: "zone") }
            guard let reason = UInt8(exactly: self.reason).flatMap(Notification.Reason.init(rawValue:)) else {
                throw WireError(.unknownNumber, field: "reason")
            }
            do throws(BodyError) {
                return Notification.RecordChange(
                    id: RecordID(zone: zone, recordName: self.recordName),
                    reason: reason,
                    fields: try RecordBody(checking: self.fields, allowsClear: false)
                )
            } catch {
                throw WireError(.malformed, field: "fields")
            }
        }
    }
}
