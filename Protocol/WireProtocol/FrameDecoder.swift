package import NIOCore

/// Splits the bytes of a connection into frames.
///
/// Retains only the one incomplete frame.
///
/// A class, so that the owner of the connection can raise the limit after the handshake while NIO
/// owns the decoding. Not `Sendable`: it belongs to the connection's event loop.
package final class FrameDecoder: NIOSingleStepByteToMessageDecoder {
    package typealias InboundOut = Frame

    /// Longest payload of a client's frame before the `welcome`: an unknown peer gets no more
    /// memory.
    package static let handshakePayloadBytesMax = 4096

    /// Longest accepted payload; checked as soon as a header is complete.
    ///
    /// Frames of small kinds have a lower bound (`FrameKind.smallPayloadBytesMax`).
    package var payloadBytesMax: Int

    package init(payloadBytesMax: Int = FrameDecoder.handshakePayloadBytesMax) {
        self.payloadBytesMax = payloadBytesMax
    }

    /// Takes the next frame off the buffer; `nil` while it is incomplete.
    ///
    /// - Throws: `WireError` with code `frameTooLarge`, before any byte of the payload is awaited.
    package func decode(buffer: inout ByteBuffer) throws -> Frame? {
        var header = buffer
        guard
            let (payloadBytes, kind, flags, stream) = header.readMultipleIntegers(
                as: (UInt32, UInt8, UInt8, UInt32).self
            )
        else { return nil }
        guard payloadBytes <= FrameKind(rawValue: kind).payloadBytesMax(of: self.payloadBytesMax) else {
            throw WireError(.frameTooLarge, field: "payload bytes")
        }
        guard let payload = header.readSlice(length: Int(payloadBytes)) else { return nil }
        buffer.moveReaderIndex(to: header.readerIndex)
        return Frame(kind: FrameKind(rawValue: kind), flags: flags, stream: stream, payload: payload)
    }

    /// Takes the next frame off the last bytes of a connection.
    ///
    /// An incomplete frame is dropped.
    package func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws -> Frame? {
        try self.decode(buffer: &buffer)
    }
}
