package import NIOCore

/// Frame `notification_ack`: the client has taken every notification up to this one.
package struct NotificationAck: Hashable, Sendable {
    /// From 1.
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }

    /// Reads the payload of a `notification_ack`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        let number = try payload.reading("notification_ack") { message throws(WireError) in
            var number: UInt64 = 0
            while let tag = try message.tag() {
                switch tag {
                case 0x08: number = try message.varint()
                default: try message.skip(tag)
                }
            }
            return number
        }
        guard number > 0 else { throw WireError(.missing, field: "number") }
        self.init(number: number)
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeField(1, self.number)
        return buffer
    }
}
