import Foundation
import RecordClient
import RecordModel
import TestSupport
import Testing

@Suite struct WriteBehindTests {
    private static let piece = (0..<Int(WriteBehind.windowBytes) / 4).map {
        UInt8(truncatingIfNeeded: $0 &* 31)
    }

    /// Writes quarters of a window to a file of the folder, which the disk takes at once.
    private func write(_ pieces: Int, in directory: TemporaryDirectory) throws -> String {
        let path = directory.path + "/file"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var behind = WriteBehind(fileBytes: Int64(pieces * Self.piece.count))
        for number in 0..<pieces {
            let offset = number * Self.piece.count
            #expect(pwrite(descriptor, Self.piece, Self.piece.count, off_t(offset)) == Self.piece.count)
            #expect(fdatasync(descriptor) == 0)
            behind.wrote(to: Int64(offset + Self.piece.count), of: descriptor)
        }
        return path
    }

    @Test func `of a large file what is on the disk leaves the memory, and every byte is in the file`() throws
    {
        let directory = try TemporaryDirectory()
        // The last three are no window.
        let pieces = Int(WriteBehind.fileBytesMin) / Self.piece.count + 3
        let path = try self.write(pieces, in: directory)
        #expect(try ResidentPages.bytes(of: path) == 3 * Self.piece.count)
        let contents = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(contents.count == pieces * Self.piece.count)
        for start in stride(from: 0, to: contents.count, by: Self.piece.count) {
            #expect(contents[start..<start + Self.piece.count].elementsEqual(Self.piece))
        }
    }

    @Test func `a file that is not large stays in memory`() throws {
        let directory = try TemporaryDirectory()
        let pieces = Int(WriteBehind.fileBytesMin) / Self.piece.count - 1
        let path = try self.write(pieces, in: directory)
        #expect(try ResidentPages.bytes(of: path) == pieces * Self.piece.count)
    }
}
