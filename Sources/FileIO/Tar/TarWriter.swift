import Foundation
package import SystemCrypto

/// Writes an archive to a pipe or a file, one file after the other.
///
/// Every call blocks.
package struct TarWriter {
    private let descriptor: Int32
    private var entry: TarEntry?
    /// Bytes of the entry that were not written.
    private var rest: Int64 = 0

    /// Does not close the descriptor.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Begins a file; its bytes must follow.
    package mutating func begin(_ entry: TarEntry) throws(FileError) {
        precondition(self.rest == 0, "the file before has bytes to come")
        try self.end()
        self.entry = entry
        self.rest = entry.bytes
        try self.put(entry.header)
    }

    package mutating func write(_ bytes: FileBytes) throws(FileError) {
        precondition(Int64(bytes.count) <= self.rest, "more bytes than the header says")
        self.rest -= Int64(bytes.count)
        try self.put(bytes)
    }

    /// Writes zeros for all remaining bytes of the file.
    package mutating func fill(hashing hash: inout SHA256) throws(FileError) {
        // SAFETY: zeros that are only read, and freed at the end of this call.
        let zeros = FileMemory.allocate(byteCount: 65_536, alignment: 16)
        defer { zeros.deallocate() }
        zeros.initializeMemory(as: UInt8.self, repeating: 0)
        while self.rest > 0 {
            let piece = FileBytes(rebasing: zeros[..<Int(min(self.rest, Int64(zeros.count)))])
            hash.add(piece)
            try self.write(piece)
        }
    }

    /// Writes the end of the archive.
    package mutating func finish() throws(FileError) {
        precondition(self.rest == 0, "the last file has bytes to come")
        try self.end()
        try self.put([UInt8](repeating: 0, count: 2 * TarEntry.blockBytes))
    }

    private mutating func end() throws(FileError) {
        guard let entry = self.entry else { return }
        self.entry = nil
        try self.put([UInt8](repeating: 0, count: entry.paddingBytes))
    }

    private func put(_ bytes: [UInt8]) throws(FileError) {
        var failure: FileError?
        // SAFETY: the bytes are used within the call only.
        bytes.withUnsafeBytes { bytes in
            do throws(FileError) { try self.put(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func put(_ bytes: FileBytes) throws(FileError) {
        var rest = bytes
        while let first = rest.baseAddress, rest.count > 0 {
            let written = Foundation.write(self.descriptor, first, rest.count)
            if written < 0 {
                guard errno == EINTR || errno == EAGAIN else { throw .last }
                if errno == EAGAIN { self.waitUntilWritable() }
                continue
            }
            // SAFETY: the rest of the bytes that the caller keeps until we return.
            rest = FileBytes(rebasing: rest[written...])
        }
    }

    /// The program at the other end may have made the pipe non-blocking.
    private func waitUntilWritable() {
        var poll = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
        _ = Foundation.poll(&poll, 1, -1)
    }
}
