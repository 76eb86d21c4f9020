import Foundation

/// Writes to an open file, past the page cache if the file is large.
///
/// The kernel copies each byte that goes through the page cache, looks for its page and frees the
/// page later. That takes three times the processor time of letting the disk read the byte where it
/// is, and it evicts what others read. So the bytes of large files should lie at pages
/// (`BufferPool`). Bytes that do not, the rest of a last page, and all bytes on a file system that
/// can do nothing else, go through the page cache.
///
/// Every call blocks, and makes nothing durable.
/// - Source: `O_DIRECT` in open(2): addresses, offsets and lengths are multiples of what the disk
///   asks for, a page at most.
package final class FileWriter: Sendable {
    /// Smaller files are likely to be read soon, and stay in the page cache.
    package static let largeBytesMin: Int64 = 32 * 1_024 * 1_024
    package static let pageBytes = 4_096
    /// Pieces of one system call.
    private static let piecesMax = 64

    private let file: OpenFile
    /// A second descriptor of the same file, or `nil` if the file is not large or the file system
    /// cannot do it.
    private let direct: Int32?

    /// - Parameters:
    ///   - file: Open for writing.
    ///   - isLarge: Whether its bytes are not to stay in the page cache.
    package init(_ file: OpenFile, isLarge: Bool) {
        self.file = file
        let direct =
            isLarge
            ? open("/proc/self/fd/\(file.descriptor)", O_WRONLY | O_CLOEXEC | Self.directFlag)
            : -1
        self.direct = direct >= 0 ? direct : nil
    }

    deinit { if let direct { close(direct) } }

    /// Writes all bytes of all pieces from an offset on, one behind the other.
    ///
    /// - Throws: The first failure; the pieces before it may be in the file.
    package func write(_ pieces: [FileBytes], at offset: Int64) throws(FileError) {
        var rest = Pieces(pieces)
        var position = offset
        while let next = rest.first {
            if let direct, let pages = rest.pages(at: position, max: Self.piecesMax) {
                let count = pwritev(direct, pages, Int32(pages.count), off_t(position))
                if try self.advance(&rest, &position, by: count) { continue }
                guard errno == EINVAL || errno == EOPNOTSUPP else { throw .last }
            }
            let count = pwrite(self.file.descriptor, next.baseAddress, next.count, off_t(position))
            guard try self.advance(&rest, &position, by: count) else { throw .last }
        }
    }

    /// Goes on behind what a call has written.
    ///
    /// - Returns: `false` if the call has failed, as `errno` says.
    private func advance(
        _ rest: inout Pieces,
        _ position: inout Int64,
        by count: Int
    ) throws(FileError) -> Bool {
        // The system took none of the bytes and gave no reason. Trying again might never end.
        guard count != 0 else { throw FileError(errno: EIO) }
        guard count > 0 else { return errno == EINTR }
        rest.remove(count)
        position += Int64(count)
        return true
    }

    /// `O_DIRECT`, which Swift's module of the system leaves out.
    ///
    /// - Source: Linux, `include/uapi/asm-generic/fcntl.h` and `arch/arm64/include/uapi/asm/fcntl.h`.
    private static var directFlag: Int32 {
        #if arch(arm64)
        0o200000
        #else
        0o40000
        #endif
    }
}

/// The bytes that are still to be written.
private struct Pieces {
    private var rest: ArraySlice<FileBytes>

    init(_ pieces: [FileBytes]) {
        self.rest = pieces.filter { !$0.isEmpty }[...]
    }

    var first: FileBytes? { self.rest.first }

    /// The leading pieces that are whole pages at page boundaries, or `nil` if there are none, or if the
    /// offset is within a page.
    func pages(at offset: Int64, max: Int) -> [iovec]? {
        guard offset.isMultiple(of: Int64(FileWriter.pageBytes)) else { return nil }
        let pages = self.rest.prefix(max).prefix {
            Int(bitPattern: $0.baseAddress).isMultiple(of: FileWriter.pageBytes)
                && $0.count.isMultiple(of: FileWriter.pageBytes)
        }
        guard !pages.isEmpty else { return nil }
        // SAFETY: the system only reads what it is told to write.
        return pages.map {
            iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
        }
    }

    mutating func remove(_ count: Int) {
        var left = count
        while left > 0, let piece = self.rest.first {
            if piece.count > left {
                // SAFETY: the rest of bytes that the caller lends.
                self.rest[self.rest.startIndex] = FileBytes(rebasing: piece[left...])
                return
            }
            left -= piece.count
            self.rest.removeFirst()
        }
    }
}
