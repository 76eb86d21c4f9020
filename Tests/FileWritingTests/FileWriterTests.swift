import FileWriting
import Foundation
import NIOCore
import TestSupport
import Testing

@Suite struct FileWriterTests {
    /// Memory at a page, and what is in it.
    private final class Memory {
        // SAFETY: freed with this object, which the tests outlive.
        let bytes: UnsafeMutableRawBufferPointer

        init(_ count: Int, seed: UInt64) {
            self.bytes = .allocate(byteCount: count, alignment: FileWriter.pageBytes)
            var generator = SeededGenerator(seed: seed)
            for offset in stride(from: 0, to: count, by: 8) {
                self.bytes.storeBytes(of: generator.next(), toByteOffset: offset, as: UInt64.self)
            }
        }

        deinit { self.bytes.deallocate() }

        func piece(_ range: Range<Int>) -> LentBytes { LentBytes(rebasing: self.bytes[range]) }
    }

    private let directory: TemporaryDirectory
    private let path: String
    private let descriptor: Int32

    init() throws {
        self.directory = try TemporaryDirectory()
        self.path = self.directory.path + "/file"
        self.descriptor = open(self.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(self.descriptor >= 0)
    }

    private func close() { Glibc.close(self.descriptor) }

    private var contents: Data { get throws { try Data(contentsOf: URL(fileURLWithPath: self.path)) } }

    @Test(arguments: [(isLarge: true, resident: 1), (isLarge: false, resident: 101)])
    func `whole pages of a large file are not in the kernel's memory, those of others are`(
        isLarge: Bool,
        resident: Int
    ) throws {
        defer { self.close() }
        let page = FileWriter.pageBytes
        let memory = Memory(101 * page, seed: 1)
        let writer = FileWriter(self.descriptor, isLarge: isLarge)
        // More pieces than go with one call, and a part of a page at the end.
        let pieces = (0..<100).map { memory.piece($0 * page..<($0 + 1) * page) }
        try writer.write(pieces, at: 0)
        try writer.write([memory.piece(100 * page..<100 * page + 7)], at: Int64(100 * page))
        #expect(try ResidentPages.bytes(of: self.path) == resident * page)
        #expect(try self.contents.elementsEqual(memory.piece(0..<100 * page + 7)))
    }

    @Test(arguments: 0..<12, [true, false])
    func `every byte is in its place, wherever it lay and however it was cut`(
        seed: UInt64,
        isLarge: Bool
    )
        throws
    {
        defer { self.close() }
        var generator = SeededGenerator(seed: seed)
        let page = FileWriter.pageBytes
        let memory = Memory(64 * page, seed: seed)
        let writer = FileWriter(self.descriptor, isLarge: isLarge)
        var expected: [UInt8] = []
        while expected.count < 256 * page {
            var pieces: [LentBytes] = []
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                // Pages more often than not, so that what begins in the midst of one comes back to one.
                let unit = Int.random(in: 0..<3, using: &generator) > 0 ? page : 512
                let start = Int.random(in: 0..<32 * page / unit, using: &generator) * unit
                let count = Int.random(in: 0...32 * page / unit, using: &generator) * unit
                pieces.append(memory.piece(start..<start + count))
            }
            try writer.write(pieces, at: Int64(expected.count))
            for piece in pieces { expected += piece }
        }
        #expect(try self.contents.elementsEqual(expected))
    }

    @Test(arguments: [true, false])
    func `what the system says about a write that failed is the error`(isLarge: Bool) throws {
        self.close()
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { Glibc.close(full) }
        let memory = Memory(FileWriter.pageBytes, seed: 1)
        let writer = FileWriter(full, isLarge: isLarge)
        #expect(throws: FileWriteFailure(errno: ENOSPC)) {
            try writer.write([memory.piece(0..<FileWriter.pageBytes)], at: 0)
        }
        let closed = FileWriter(-1, isLarge: isLarge)
        #expect(throws: FileWriteFailure(errno: EBADF)) { try closed.write([memory.piece(0..<1)], at: 0) }
    }

    @Test func `memory of several buffers is lent in their order`() {
        let buffers = [ByteBuffer(bytes: [1, 2]), ByteBuffer(), ByteBuffer(bytes: [3])]
        #expect(ByteBuffer.withMemory(of: buffers) { $0.map { Array($0) } } == [[1, 2], [], [3]])
        #expect(ByteBuffer.withMemory(of: []) { $0.isEmpty })
    }
}
