import Foundation

/// Reads an archive that `TarWriter` has written, from a pipe or a file, to its very end.
///
/// Any deviation from `TarWriter`'s output is damage: a header with another byte, padding that is
/// not zero, bytes after the end. Every call blocks. Memory is one piece.
package struct TarReader {
    package enum Failure: Error, Hashable, Sendable {
        /// It ends at this byte, before its end.
        case cut(at: Int64)
        /// The header or padding that begins at this byte has wrong bytes.
        case damaged(at: Int64)
        case unreadable(FileError)
    }

    private static let pieceBytes: Int64 = 1_024 * 1_024

    private let descriptor: Int32
    private var entry: TarEntry?
    /// Offset of the next byte.
    private var offset: Int64 = 0

    /// Does not close the descriptor.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Reads the next header; the bytes of the file before must have been read.
    ///
    /// - Returns: `nil` at the end of the archive, after which there are no bytes.
    package mutating func next() throws(Failure) -> TarEntry? {
        precondition(self.entry == nil, "the file before has bytes to come")
        let start = self.offset
        let block = try self.block()
        guard block.contains(where: { $0 != 0 }) else {
            try self.finish(from: start)
            return nil
        }
        let header = try TarEntry.read(block, spelling: .standard) { () throws(Failure) in
            try self.block()
        }
        guard let entry = header?.entry else { throw .damaged(at: start) }
        self.entry = entry
        return entry
    }

    /// Passes all bytes of the file in pieces, and reads the padding after them.
    package mutating func readFile(_ take: (FileBytes) throws -> Void) throws {
        guard let entry = self.entry else { preconditionFailure("no header was read") }
        self.entry = nil
        // SAFETY: the buffer is used in this call only, within its bounds, and freed at its end.
        let buffer = FileMemory.allocate(
            byteCount: Int(max(1, min(entry.bytes, Self.pieceBytes))),
            alignment: 16
        )
        defer { buffer.deallocate() }
        var rest = entry.bytes
        while rest > 0 {
            let piece = FileMemory(rebasing: buffer[..<Int(min(rest, Int64(buffer.count)))])
            try self.fill(piece)
            try take(FileBytes(piece))
            rest -= Int64(piece.count)
        }
        let start = self.offset
        guard try self.bytes(entry.paddingBytes).allSatisfy({ $0 == 0 }) else {
            throw Failure.damaged(at: start)
        }
    }

    /// Reads the second of the two blocks at the end, and checks that no bytes follow.
    private mutating func finish(from start: Int64) throws(Failure) {
        guard try self.block().allSatisfy({ $0 == 0 }) else { throw .damaged(at: start) }
        let end = self.offset
        do throws(Failure) {
            _ = try self.bytes(1)
        } catch .cut(end) {
            return
        }
        throw .damaged(at: end)
    }

    private mutating func block() throws(Failure) -> [UInt8] { try self.bytes(TarEntry.blockBytes) }

    /// Reads a few bytes.
    private mutating func bytes(_ count: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var failure: Failure?
        // SAFETY: the bytes are used within the call only.
        bytes.withUnsafeMutableBytes { bytes in
            do throws(Failure) { try self.fill(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    private mutating func fill(_ memory: FileMemory) throws(Failure) {
        var done = 0
        while let first = memory.baseAddress, done < memory.count {
            let count = Foundation.read(self.descriptor, first + done, memory.count - done)
            if count == 0 { throw .cut(at: self.offset) }
            if count < 0 {
                guard errno == EINTR || errno == EAGAIN else { throw .unreadable(.last) }
                if errno == EAGAIN { self.waitUntilReadable() }
                continue
            }
            done += count
            self.offset += Int64(count)
        }
    }

    private func waitUntilReadable() {
        var poll = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        _ = Foundation.poll(&poll, 1, -1)
    }
}
