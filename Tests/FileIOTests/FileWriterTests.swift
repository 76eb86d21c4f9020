import FileIO
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

        func piece(_ range: Range<Int>) -> FileBytes { FileBytes(rebasing: self.bytes[range]) }
    }

    private let directory: TemporaryDirectory
    private let path: String
    private let file: OpenFile

    init() throws {
        self.directory = try TemporaryDirectory()
        self.path = self.directory.path + "/file"
        self.file = try OpenFile(path: self.path, .write)
    }

    private var contents: Data { get throws { try Data(contentsOf: URL(fileURLWithPath: self.path)) } }

    @Test(arguments: [(isLarge: true, resident: 1), (isLarge: false, resident: 101)])
    func `whole pages of a large file bypass the page cache, and those of a small file stay in it`(
        isLarge: Bool,
        resident: Int
    ) throws {
        let page = FileWriter.pageBytes
        let memory = Memory(101 * page, seed: 1)
        let writer = FileWriter(self.file, isLarge: isLarge)
        // More pieces than go with one call, and a part of a page at the end.
        let pieces = (0..<100).map { memory.piece($0 * page..<($0 + 1) * page) }
        try writer.write(pieces, at: 0)
        try writer.write([memory.piece(100 * page..<100 * page + 7)], at: Int64(100 * page))
        #expect(try ResidentPages.bytes(of: self.path) == resident * page)
        #expect(try self.contents.elementsEqual(memory.piece(0..<100 * page + 7)))
    }

    @Test(arguments: 0..<12, [true, false])
    func `every byte is at its offset, wherever its memory lies and however the pieces are cut`(
        seed: UInt64,
        isLarge: Bool
    )
        throws
    {
        var generator = SeededGenerator(seed: seed)
        let page = FileWriter.pageBytes
        let memory = Memory(64 * page, seed: seed)
        let writer = FileWriter(self.file, isLarge: isLarge)
        var expected: [UInt8] = []
        while expected.count < 256 * page {
            var pieces: [FileBytes] = []
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                // Mostly whole pages, so that a write that begins inside a page reaches a page
                // boundary again.
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
    func `a failed write throws the error of the system`(isLarge: Bool) throws {
        let memory = Memory(FileWriter.pageBytes, seed: 1)
        let full = FileWriter(try OpenFile(path: "/dev/full", .write), isLarge: isLarge)
        #expect(throws: FileError(errno: ENOSPC)) {
            try full.write([memory.piece(0..<FileWriter.pageBytes)], at: 0)
        }
        let readOnly = FileWriter(try OpenFile(path: self.path, .read), isLarge: false)
        #expect(throws: FileError(errno: EBADF)) { try readOnly.write([memory.piece(0..<1)], at: 0) }
    }

    @Test func `several buffers lend their memory in their order`() {
        let buffers = [ByteBuffer(bytes: [1, 2]), ByteBuffer(), ByteBuffer(bytes: [3])]
        #expect(ByteBuffer.withMemory(of: buffers) { $0.map { Array($0) } } == [[1, 2], [], [3]])
        #expect(ByteBuffer.withMemory(of: []) { $0.isEmpty })
    }
}
