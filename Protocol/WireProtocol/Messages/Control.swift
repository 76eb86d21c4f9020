package import NIOCore
import RecordModel

/// Frame `credit`: grants more bytes to the peer.
package struct Credit: Hashable, Sendable {
    /// Payload bytes; 1 to 2³¹−1.
    package var bytes: UInt32

    package init(bytes: UInt32) {
        self.bytes = bytes
    }

    /// Reads the payload of a `credit`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        self.bytes = 0
        var message = MessageReader(payload, "credit")
        while let field = try message.next(Proto.Credit.self) {
            switch field {
            case .bytes: self.bytes = try message.uint32()
            }
        }
        guard (1...Windows.permittedBytes.upperBound).contains(self.bytes) else {
            throw WireError(.creditInvalid, field: "bytes")
        }
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        buffer.writeField(Proto.Credit.bytes, self.bytes)
        return buffer
    }
}

/// Frames `ping` and `pong`: 8 bytes with a meaning only for the side that sent the ping.
package struct Ping: Hashable, Sendable {
    package var value: UInt64

    package init(value: UInt64) {
        self.value = value
    }

    /// Reads the payload of a `ping` or a `pong`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        guard payload.readableBytes == 8,
            let value = payload.getInteger(at: payload.readerIndex, as: UInt64.self)
        else {
            throw WireError(.malformed, field: "ping")
        }
        self.init(value: value)
    }

    package func encoded() -> ByteBuffer {
        ByteBuffer(integer: self.value)
    }
}

/// Frame `cancel`: it has no payload.
package struct Cancel: Hashable, Sendable {
    package init() {}

    /// Checks that the payload is empty.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        guard payload.readableBytes == 0 else { throw WireError(.malformed, field: "cancel") }
    }

    package func encoded() -> ByteBuffer {
        ByteBuffer()
    }
}
