import NIOCore

/// What the connections of one event loop share: its mailbox, its spare buffers, and the list of them.
///
/// Used on the loop only.
final class LoopContext {
    /// Spare buffers are kept up to this many and this large: an idle connection holds none.
    private static let spareBuffersMax = 16
    private static let spareBufferBytesMax = 256 * 1_024

    let mailbox: ReplyMailbox
    private var spareBuffers: [ByteBuffer] = []
    private var connections: [ObjectIdentifier: ConnectionHandler] = [:]

    init(eventLoop: any EventLoop) {
        self.mailbox = ReplyMailbox(eventLoop: eventLoop)
    }

    func opened(_ connection: ConnectionHandler) {
        self.connections[ObjectIdentifier(connection)] = connection
    }

    func closed(_ connection: ConnectionHandler) {
        self.connections[ObjectIdentifier(connection)] = nil
    }

    /// A list of its own: connections leave while it is walked.
    var openConnections: [ConnectionHandler] { Array(self.connections.values) }

    func takeBuffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        self.spareBuffers.popLast() ?? allocator.buffer(capacity: 4_096)
    }

    /// Takes back a buffer that was flushed.
    ///
    /// Bytes that the channel still holds are not touched: clearing copies on write.
    func giveBack(_ buffer: consuming ByteBuffer) {
        guard self.spareBuffers.count < Self.spareBuffersMax, buffer.capacity <= Self.spareBufferBytesMax
        else {
            return
        }
        buffer.clear()
        self.spareBuffers.append(buffer)
    }
}
