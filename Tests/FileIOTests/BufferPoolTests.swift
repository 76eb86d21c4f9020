import FileIO
import NIOCore
import Testing

@Suite struct BufferPoolTests {
    /// Takes buffers, writes to them, gives them back, and keeps none.
    private func use(_ count: Int, of pool: BufferPool, bytes: Int) {
        var buffers = (0..<count).map { _ in pool.take(bytes: bytes) }
        for index in buffers.indices { buffers[index].writeString("used") }
        for buffer in buffers { pool.giveBack(buffer) }
    }

    @Test(arguments: [0, 9, 21, 4_095])
    func `behind the lead of a large buffer a page begins`(lead: Int) {
        let pool = BufferPool()
        let buffer = pool.take(bytes: 131_072, lead: lead)
        #expect(buffer.readableBytes == 0)
        #expect(buffer.writableBytes >= 131_072)
        // SAFETY: the address is looked at, and nothing is read through it.
        let start = buffer.withVeryUnsafeBytes { Int(bitPattern: $0.baseAddress) }
        #expect((start + buffer.writerIndex + lead).isMultiple(of: FileWriter.pageBytes))
    }

    @Test func `a buffer that was given back is used again, empty`() {
        let pool = BufferPool()
        self.use(1, of: pool, bytes: 262_144)
        let again = pool.take(bytes: 40_000)
        #expect(again.storageCapacity == 262_144)
        #expect(again.readableBytes == 0)
        #expect(pool.take(bytes: 40_000).storageCapacity == 65_536)
    }

    @Test func `a small request does not take a large buffer`() {
        let pool = BufferPool()
        self.use(1, of: pool, bytes: 262_144)
        #expect(pool.take(bytes: 1_000).storageCapacity == 1_024)
    }

    @Test func `a buffer of more than a frame is not kept`() {
        let pool = BufferPool()
        self.use(1, of: pool, bytes: 1_024 * 1_024)
        #expect(pool.take(bytes: 40_000).storageCapacity == 65_536)
    }

    @Test func `the pool keeps at most 32 buffers`() {
        let pool = BufferPool()
        self.use(40, of: pool, bytes: 262_144)
        let again = (0..<40).map { _ in pool.take(bytes: 40_000) }
        #expect(again.count { $0.storageCapacity == 262_144 } == 32)
    }
}
