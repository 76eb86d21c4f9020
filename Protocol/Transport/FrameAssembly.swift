package import FileIO
package import NIOCore
package import WireProtocol

/// Puts frames together from the pieces in which a connection's bytes arrive.
///
/// Holds nothing of a piece whose frames are whole: TLS reads into one buffer a connection, and
/// would have to copy all of it at the next read if somebody still held it. Bytes of a frame that
/// is incomplete are copied out, once, and so are those of assets, which their receivers keep for a
/// while.
package final class FrameAssembly {
    /// Longest payload that is accepted; compared as soon as a header is complete.
    package var payloadBytesMax: Int {
        get { self.decoder.payloadBytesMax }
        set { self.decoder.payloadBytesMax = newValue }
    }

    private let decoder: FrameDecoder
    private let buffers: BufferPool
    /// The frame that is incomplete.
    private var held = ByteBuffer()
    /// What came behind the frame after which no more were wanted; empty if there is nothing.
    private var waiting = ByteBuffer()
    /// Frames that came in more than one piece, the incomplete one included.
    package private(set) var framesInPieces: UInt64 = 0

    /// Memory of the frame that is incomplete; 0 if there is none.
    package var unfinishedBytes: Int { self.held.storageCapacity }

    /// Memory of what waits because no more frames were wanted; 0 if nothing does.
    package var waitingBytes: Int { self.waiting.readableBytes > 0 ? self.waiting.storageCapacity : 0 }

    /// Payloads of `asset_data` are in memory of `buffers`, to which their receiver may give it back.
    package init(
        payloadBytesMax: Int = FrameDecoder.handshakePayloadBytesMax,
        buffers: BufferPool = BufferPool()
    ) {
        self.buffers = buffers
        self.decoder = FrameDecoder(payloadBytesMax: payloadBytesMax)
    }

    /// Takes a piece and hands over the frames that are complete with it, in order, for as long as
    /// they are wanted.
    ///
    /// What comes behind them waits, and so do all further pieces, until `resume`. Not to be called
    /// by `frameReceived`.
    ///
    /// - Throws: `WireError` with code `frameTooLarge`, and whatever `frameReceived` throws.
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

    /// Goes on with what waits.
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

    /// Adds what the incomplete frame lacks, and nothing more; returns `nil` if there is not enough.
    private func completeHeld(from rest: inout ByteBuffer) throws -> Frame? {
        var held = self.held
        self.held = ByteBuffer()
        // First its length, and then the rest.
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

    /// Of the whole frame that begins here, or `nil` if its header is incomplete.
    private static func frameBytes(of buffer: ByteBuffer) -> Int? {
        guard buffer.readableBytes >= Frame.headerBytes,
            let payloadBytes = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self)
        else { return nil }
        return Frame.headerBytes + Int(payloadBytes)
    }

    /// Memory to set aside for a frame that is incomplete, in bytes: all of it for a frame of a common
    /// size, and no more than that for a header alone.
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
