import NIOCore

extension Header {
    /// Takes the header off; returns `nil` if it is incomplete or unknown.
    init?(from buffer: inout ByteBuffer) {
        guard buffer.readableBytes >= Self.bytes,
            let (mode, total, message) = buffer.readMultipleIntegers(as: (UInt8, UInt64, UInt32).self),
            let mode = Mode(rawValue: mode)
        else { return nil }
        self.init(mode: mode, total: Int(total), messageBytes: Int(message))
    }

    var buffer: ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(self.mode.rawValue, UInt64(self.total), UInt32(self.messageBytes))
        return buffer
    }
}

/// Writes a number of bytes, as many at a time as the socket takes.
final class Source {
    /// What ours has in a frame.
    static let pieceBytes = 128 * 1_024

    private let piece = ByteBuffer(repeating: 0x5A, count: Source.pieceBytes)
    private var left: Int
    private var isWriting = false

    init(_ total: Int) { self.left = total }

    /// Does nothing within itself: a write may tell at once that there is room again.
    func write(to context: ChannelHandlerContext) {
        guard !self.isWriting else { return }
        self.isWriting = true
        defer { self.isWriting = false }
        while self.left > 0, context.channel.isWritable {
            let count = min(self.left, Self.pieceBytes)
            guard let bytes = self.piece.getSlice(at: 0, length: count) else { return }
            self.left -= count
            context.writeAndFlush(NIOAny(bytes), promise: nil)
        }
    }
}
