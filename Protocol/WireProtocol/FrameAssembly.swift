package import NIOCore

/// Puts frames together from the pieces in which a connection's bytes arrive.
///
/// Holds nothing of a piece whose frames are whole: TLS reads into one buffer a connection, and would have to copy all of
/// it at the next read if somebody still held it. Bytes of a frame that is incomplete are copied out.
package final class FrameAssembly {
    /// Longest payload that is accepted; compared as soon as a header is complete.
    package var payloadBytesMax: Int {
        get { self.decoder.payloadBytesMax }
        set { self.decoder.payloadBytesMax = newValue }
    }

    private let decoder: FrameDecoder
    /// The frame that is incomplete.
    private var held = ByteBuffer()

    package init(payloadBytesMax: Int = FrameDecoder.handshakePayloadBytesMax) {
        self.decoder = FrameDecoder(payloadBytesMax: payloadBytesMax)
    }

    /// Takes a piece and hands over the frames that are complete with it, in order.
    ///
    /// Not to be called by `frameReceived`.
    ///
    /// - Throws: `WireError` with code `frameTooLarge`, and whatever `frameReceived` throws.
    package func received(_ piece: ByteBuffer, frameReceived: (Frame) throws -> Void) throws {
        var rest = self.held
        let isContinued = rest.readableBytes > 0
        self.held = ByteBuffer()
        if isContinued {
            rest.writeImmutableBuffer(piece)
        } else {
            rest = piece
        }
        let restBytes = rest.readableBytes
        while let frame = try self.decoder.decode(buffer: &rest) { try frameReceived(frame) }
        if isContinued, rest.readableBytes == restBytes {
            self.held = rest
        } else if rest.readableBytes > 0 {
            self.held = ByteBufferAllocator().buffer(capacity: rest.readableBytes)
            self.held.writeImmutableBuffer(rest)
        }
    }
}
