import FileWriting
package import NIOCore
import Synchronization

/// Memory for frames with bytes of assets, used again and again: what is fresh from the system
/// costs more than the bytes that go into it.
///
/// Holds 4 MiB of bytes at the most while nobody needs them.
package final class AssetBuffers: Sendable {
    private static let countMax = 32
    /// Smaller ones are cheap.
    private static let bytesMin = 32 * 1_024
    /// What is given out for a frame of the largest size.
    private static let capacityMax = 512 * 1_024

    private let spare = Mutex<[ByteBuffer]>([])

    /// What bytes of assets begin at, where they are many: the disk can read them where they are
    /// (`FileWriter`).
    package static let pageBytes = FileWriter.pageBytes

    package init() {}

    /// An empty buffer with room for so many bytes, behind the first `lead` of which a page begins.
    package func take(bytes: Int, lead: Int) -> ByteBuffer {
        guard bytes >= Self.bytesMin else { return self.take(bytes: bytes) }
        var buffer = self.take(bytes: bytes + Self.pageBytes)
        // SAFETY: the address is looked at, and nothing is read through it.
        let address = buffer.withUnsafeMutableWritableBytes { Int(bitPattern: $0.baseAddress) }
        let skipped = (Self.pageBytes - (address + lead) % Self.pageBytes) % Self.pageBytes
        buffer.moveWriterIndex(forwardBy: skipped)
        buffer.moveReaderIndex(forwardBy: skipped)
        return buffer
    }

    /// An empty buffer with room for so many bytes.
    package func take(bytes: Int) -> ByteBuffer {
        guard bytes >= Self.bytesMin, var buffer = self.spare.withLock({ $0.popLast() }) else {
            return ByteBufferAllocator().buffer(capacity: bytes)
        }
        // Its last user may keep it a little longer after returning it; then this makes another one.
        buffer.clear(minimumCapacity: bytes)
        return buffer
    }

    /// Takes back a buffer that nobody needs any more.
    package func giveBack(_ buffer: ByteBuffer) {
        guard (Self.bytesMin...Self.capacityMax).contains(buffer.storageCapacity) else { return }
        self.spare.withLock { spare in
            if spare.count < Self.countMax { spare.append(buffer) }
        }
    }
}
