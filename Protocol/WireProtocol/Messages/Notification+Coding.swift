package import NIOCore
package import RecordModel

extension Notification {
    /// Reads the payload of a `notification`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        guard payload.readableBytes <= Bounds.notificationBytesMax else {
            throw WireError(.outOfBounds, field: "notification")
        }
        do throws(WireError) {
            try self.init(MessageReader(payload, "notification"))
        } catch {
            throw error.ofServer
        }
    }

    private init(_ message: consuming MessageReader) throws(WireError) {
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
        while let field = try message.next(Proto.Notification.self) {
            switch field {
            case .number: self.number = try message.varint()
            case .subscriptionID: self.subscriptionID = try message.text()
            case .scope: scope = try message.uint32()
            case .kind: event.kind = try message.uint32()
            case .zone: event.zone = try ZoneID(message.message())
            case .recordName: event.recordName = try message.text()
            case .reason: event.reason = try message.uint32()
            case .fields: event.fields = try message.bytes()
            case .coalesced: self.isCoalesced = try message.bool()
            case .owner: self.owner = try message.text()
            case .info: self.info = try NotificationInfo(unbounded: message.message())
            case .committedMs: self.committedMilliseconds = try message.int64()
            case .pruned: self.isPruned = try message.bool()
            }
        }
        guard self.number > 0 else { throw WireError(.missing, field: "number") }
        guard !self.subscriptionID.isEmpty else { throw WireError(.missing, field: "subscription_id") }
        self.scope = try DatabaseScope(number: scope)
        self.event = try event.event
    }

    /// Bytes of its encoding.
    package var byteCount: Int { self.encoded().readableBytes }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        self.encode(into: &buffer)
        return buffer
    }

    /// Appends the encoded message; the caller keeps it within `Bounds.notificationBytesMax`.
    package func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.Notification.number, self.number)
        buffer.writeField(Proto.Notification.subscriptionID, self.subscriptionID)
        buffer.writeField(Proto.Notification.scope, self.scope.number)
        self.event.encode(into: &buffer)
        buffer.writeField(Proto.Notification.coalesced, self.isCoalesced)
        buffer.writeField(Proto.Notification.owner, self.owner)
        if let info { buffer.writeMessage(Proto.Notification.info) { info.encode(into: &$0) } }
        buffer.writeField(Proto.Notification.committedMs, self.committedMilliseconds)
        buffer.writeField(Proto.Notification.pruned, self.isPruned)
    }
}

extension Notification.Event {
    /// Fields 4 to 8 of the notification.
    fileprivate func encode(into buffer: inout ByteBuffer) {
        switch self {
        case .query(nil):
            buffer.writeField(Proto.Notification.kind, 1 as UInt32)
        case .query(let change?):
            buffer.writeField(Proto.Notification.kind, 1 as UInt32)
            buffer.writeMessage(Proto.Notification.zone) { change.id.zone.encode(into: &$0) }
            buffer.writeField(Proto.Notification.recordName, change.id.recordName)
            buffer.writeField(Proto.Notification.reason, UInt32(change.reason.rawValue))
            buffer.writeField(Proto.Notification.fields, change.fields.bytes)
        case .zone(let zone):
            buffer.writeField(Proto.Notification.kind, 2 as UInt32)
            buffer.writeMessage(Proto.Notification.zone) { zone.encode(into: &$0) }
        case .database:
            buffer.writeField(Proto.Notification.kind, 3 as UInt32)
        }
    }
}

/// An event, as encoded: the kind decides which fields are used.
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
