package import FileIO
package import NIOCore
package import WireProtocol

/// Assembles frames from the pieces in which a connection's bytes arrive.
///
/// Retains no piece with only complete frames: TLS reads into one buffer per connection, and would
/// have to copy all of it at the next read if it were still referenced. Bytes of an incomplete
/// frame are copied once, and so are those of assets, which their receivers retain for a while.
package final class FrameAssembly {
    /// Longest accepted payload; checked as soon as a header is complete.
    package var payloadBytesMax: Int {
        get { self.decoder.payloadBytesMax }
        set { self.decoder.payloadBytesMax = newValue }
    }

    private let decoder: FrameDecoder
    private let buffers: BufferPool
    /// The incomplete frame.
    private var held = ByteBuffer()
    /// Bytes after the frame at which reading was paused; empty if there are none.
    private var waiting = ByteBuffer()
    /// Frames that arrived in more than one piece, the incomplete one included.
    package private(set) var framesInPieces: UInt64 = 0

    /// Memory of the incomplete frame; 0 if there is none.
    package var unfinishedBytes: Int { self.held.storageCapacity }

    /// Memory of bytes that wait while reading is paused; 0 if there are none.
    package var waitingBytes: Int { self.waiting.readableBytes > 0 ? self.waiting.storageCapacity : 0 }

    /// Payloads of `asset_data` use memory of `buffers`, to which their receiver may return it.
    package init(
        payloadBytesMax: Int = FrameDecoder.handshakePayloadBytesMax,
        buffers: BufferPool = BufferPool()
    ) {
        self.buffers = buffers
        self.decoder = FrameDecoder(payloadBytesMax: payloadBytesMax)
    }

    /// Takes a piece and passes on the frames that it completes, in order, while they are wanted.
    ///
    /// Bytes after them wait, and so do all further pieces, until `resume`. Must not be called by
    /// `frameReceived`.
    ///
    /// - Throws: `WireError` with code `frameTooLarge`, and any error of `frameReceived`.
    package func received(
        _ piece: ByteBuffer,
        while isWanted: () -> Bool = { true },
        frameReceived: (Frame) throws -> Void
    ) throws {
        guard self.waiting.readableBytes == 0 else {
            var waiting = self.waiting
            self.waiting = ByteBuffer()
            waiting.writeImmutableBuffer(piece)
            self.waiting = waiting
            return
        }
        try self.handOver(piece, while: isWanted, frameReceived: frameReceived)
    }

    /// Continues with waiting bytes.
    package func resume(while isWanted: () -> Bool, frameReceived: (Frame) throws -> Void) throws {
        let rest = self.waiting
        self.waiting = ByteBuffer()
        try self.handOver(rest, while: isWanted, frameReceived: frameReceived)
    }

    private func handOver(
        _ piece: ByteBuffer,
        while isWanted: () -> Bool,
        frameReceived: (Frame) throws -> Void
    ) throws {
        var rest = piece
        if self.held.readableBytes > 0, rest.readableBytes > 0 {
            guard isWanted() else { return self.waiting = rest }
            guard let frame = try self.completeHeld(from: &rest) else { return }
            try frameReceived(frame)
        }
        while rest.readableBytes > 0 {
            guard isWanted() else { return self.waiting = rest }
            guard let frame = try self.decoder.decode(buffer: &rest) else { break }
            try frameReceived(self.detached(frame))
        }
        guard rest.readableBytes > 0 else { return }
        self.framesInPieces += 1
        var held = self.takeFrame(bytes: max(rest.readableBytes, Self.heldBytes(of: rest)))
        held.writeImmutableBuffer(rest)
        self.held = held
    }

    /// Adds the missing bytes of the incomplete frame, and no more; returns `nil` if there are not
    /// enough.
    private func completeHeld(from rest: inout ByteBuffer) throws -> Frame? {
        var held = self.held
        self.held = ByteBuffer()
        // First its length, then the rest.
        for _ in 0..<2 {
            if let frame = try self.decoder.decode(buffer: &held) { return frame }
            let wanted = Self.frameBytes(of: held) ?? Frame.headerBytes
            guard let next = rest.readSlice(length: min(wanted - held.readableBytes, rest.readableBytes))
            else {
                self.held = held
                return nil
            }
            self.add(next, to: &held)
        }
        let frame = try self.decoder.decode(buffer: &held)
        if frame == nil { self.held = held }
        return frame
    }

    private func add(_ next: ByteBuffer, to held: inout ByteBuffer) {
        let bytes = Self.heldBytes(of: held)
        if held.readableBytes + held.writableBytes < bytes {
            var larger = self.takeFrame(bytes: bytes)
            larger.writeImmutableBuffer(held)
            held = larger
        }
        held.writeImmutableBuffer(next)
    }

    /// Size of the whole frame that begins here, or `nil` if its header is incomplete.
    private static func frameBytes(of buffer: ByteBuffer) -> Int? {
        guard buffer.readableBytes >= Frame.headerBytes,
            let payloadBytes = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self)
        else { return nil }
        return Frame.headerBytes + Int(payloadBytes)
    }

    /// Bytes to reserve for an incomplete frame: all of it for a frame of a common size, and no
    /// more than that size for a header alone.
    private static func heldBytes(of buffer: ByteBuffer) -> Int {
        let bytes = Self.frameBytes(of: buffer) ?? Frame.headerBytes
        return bytes <= Frame.headerBytes + AssetData.payloadBytesMax ? bytes : 0
    }

    private func takeFrame(bytes: Int) -> ByteBuffer {
        self.buffers.take(bytes: bytes, lead: Frame.headerBytes + AssetData.headerBytes)
    }

    private func detached(_ frame: Frame) -> Frame {
        guard frame.kind == .assetData else { return frame }
        var frame = frame
        var payload = self.buffers.take(
            bytes: frame.payload.readableBytes,
            lead: AssetData.headerBytes
        )
        payload.writeImmutableBuffer(frame.payload)
        frame.payload = payload
        return frame
    }
}
