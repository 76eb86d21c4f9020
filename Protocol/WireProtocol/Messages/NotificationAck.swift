package import NIOCore
import RecordModel

/// Frame `notification_ack`: the client has processed every notification up to this one.
package struct NotificationAck: Hashable, Sendable {
    /// From 1.
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }

    /// Reads the payload of a `notification_ack`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        self.number = 0
        var message = MessageReader(payload, "notification_ack")
        while let field = try message.next(Proto.NotificationAck.self) {
            switch field {
            case .number: self.number = try message.varint()
            }
        }
        guard self.number > 0 else { throw WireError(.missing, field: "number") }
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        buffer.writeField(Proto.NotificationAck.number, self.number)
        return buffer
    }
}
