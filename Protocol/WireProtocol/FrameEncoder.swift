package import NIOCore

/// Writes frames.
package struct FrameEncoder: MessageToByteEncoder {
    package typealias OutboundIn = Frame

    package init() {}

    package func encode(data: Frame, out: inout ByteBuffer) throws {
        Self.write(data, into: &out)
    }

    /// Appends a frame to the buffer.
    package static func write(_ frame: Frame, into buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(
            UInt32(frame.payload.readableBytes),
            frame.kind.rawValue,
            frame.flags,
            frame.stream
        )
        buffer.writeImmutableBuffer(frame.payload)
    }

    /// Appends a frame; its payload is written in place, without a buffer of its own.
    ///
    /// - Returns: Bytes of the payload, for flow control.
    @discardableResult
    package static func write(
        _ kind: FrameKind,
        stream: UInt32,
        into buffer: inout ByteBuffer,
        payload: (inout ByteBuffer) -> Void
    ) -> Int {
        let start = buffer.writerIndex
        buffer.writeMultipleIntegers(UInt32(0), kind.rawValue, UInt8(0), stream)
        payload(&buffer)
        let payloadBytes = buffer.writerIndex - start - Frame.headerBytes
        buffer.setInteger(UInt32(payloadBytes), at: start)
        return payloadBytes
    }
}
