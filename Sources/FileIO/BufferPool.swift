package import NIOCore
import Synchronization

/// Reusable memory for frames with bytes of assets.
///
/// Fresh memory from the system costs more than the bytes that go into it. The pool keeps at most
/// 32 spare buffers; it frees further ones.
package final class BufferPool: Sendable {
    private static let countMax = 32
    /// Smaller buffers are cheap to allocate.
    private static let bytesMin = 32 * 1_024
    /// The capacity of a buffer for a frame of the largest size.
    private static let capacityMax = 512 * 1_024

    private let spare = Mutex<[ByteBuffer]>([])

    package init() {}

    /// An empty buffer with room for this many bytes; a page begins after the first `lead` of them.
    ///
    /// The disk can then read the bytes after `lead` in place (`FileWriter`). A small buffer is not
    /// aligned.
    package func take(bytes: Int, lead: Int) -> ByteBuffer {
        guard bytes >= Self.bytesMin else { return self.take(bytes: bytes) }
        let page = FileWriter.pageBytes
        var buffer = self.take(bytes: bytes + page)
        // SAFETY: only the address is inspected; nothing is read through it.
        let address = buffer.withUnsafeMutableWritableBytes { Int(bitPattern: $0.baseAddress) }
        let skipped = (page - (address + lead) % page) % page
        buffer.moveWriterIndex(forwardBy: skipped)
        buffer.moveReaderIndex(forwardBy: skipped)
        return buffer
    }

    /// An empty buffer with room for this many bytes.
    package func take(bytes: Int) -> ByteBuffer {
        guard bytes >= Self.bytesMin, var buffer = self.spare.withLock({ $0.popLast() }) else {
            return ByteBufferAllocator().buffer(capacity: bytes)
        }
        // Its last user may retain it a little longer after returning it; then this allocates
        // another.
        buffer.clear(minimumCapacity: bytes)
        return buffer
    }

    /// Takes back a buffer that is no longer needed.
    package func giveBack(_ buffer: ByteBuffer) {
        guard (Self.bytesMin...Self.capacityMax).contains(buffer.storageCapacity) else { return }
        self.spare.withLock { spare in
            if spare.count < Self.countMax { spare.append(buffer) }
        }
    }
}
