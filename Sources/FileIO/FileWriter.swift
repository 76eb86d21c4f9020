import Foundation

/// Writes to an open file; bypasses the page cache if the file is large.
///
/// The kernel copies each byte that goes through the page cache, looks its page up and frees the
/// page later. That takes three times the processor time of direct I/O, and evicts pages that
/// others read. So the bytes of large files should be page-aligned (`BufferPool`). Unaligned bytes,
/// the rest of a last page, and all bytes on a file system without direct I/O go through the page
/// cache.
///
/// Every call blocks, and makes nothing durable.
/// - Source: `O_DIRECT` in open(2): addresses, offsets and lengths are multiples of the disk's
///   block size, a page at most.
package final class FileWriter: Sendable {
    /// Smaller files are likely to be read soon, and stay in the page cache.
    package static let largeBytesMin: Int64 = 32 * 1_024 * 1_024
    package static let pageBytes = 4_096
    /// Maximum number of pieces of one system call.
    private static let piecesMax = 64

    private let file: OpenFile
    /// A second descriptor of the same file, or `nil` if the file is not large or the file system
    /// does not support it.
    private let direct: Int32?

    /// - Parameters:
    ///   - file: Open for writing.
    ///   - isLarge: Whether its bytes bypass the page cache.
    package init(_ file: OpenFile, isLarge: Bool) {
        self.file = file
        let direct =
            isLarge
            ? open("/proc/self/fd/\(file.descriptor)", O_WRONLY | O_CLOEXEC | Self.directFlag)
            : -1
        self.direct = direct >= 0 ? direct : nil
    }

    deinit { if let direct { close(direct) } }

    /// Writes all bytes of all pieces consecutively from an offset on.
    ///
    /// - Throws: The first failure; earlier pieces may be in the file.
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

    /// Continues after the bytes that a call has written.
    ///
    /// - Returns: `false` if the call has failed; `errno` has the reason.
    private func advance(
        _ rest: inout Pieces,
        _ position: inout Int64,
        by count: Int
    ) throws(FileError) -> Bool {
        // The system took none of the bytes and gave no reason. A retry might never end.
        guard count != 0 else { throw FileError(errno: EIO) }
        guard count > 0 else { return errno == EINTR }
        rest.remove(count)
        position += Int64(count)
        return true
    }

    /// `O_DIRECT`, which Swift's Glibc module lacks.
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

/// The bytes that are still to write.
private struct Pieces {
    private var rest: ArraySlice<FileBytes>

    init(_ pieces: [FileBytes]) {
        self.rest = pieces.filter { !$0.isEmpty }[...]
    }

    var first: FileBytes? { self.rest.first }

    /// The leading pieces that are whole, aligned pages; `nil` if there are none, or if the offset
    /// is within a page.
    func pages(at offset: Int64, max: Int) -> [iovec]? {
        guard offset.isMultiple(of: Int64(FileWriter.pageBytes)) else { return nil }
        let pages = self.rest.prefix(max).prefix {
            Int(bitPattern: $0.baseAddress).isMultiple(of: FileWriter.pageBytes)
                && $0.count.isMultiple(of: FileWriter.pageBytes)
        }
        guard !pages.isEmpty else { return nil }
        // SAFETY: the system only reads the bytes that it is to write.
        return pages.map {
            iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
        }
    }

    mutating func remove(_ count: Int) {
        var left = count
        while left > 0, let piece = self.rest.first {
            if piece.count > left {
                // SAFETY: the rest of the bytes that the caller lends.
                self.rest[self.rest.startIndex] = FileBytes(rebasing: piece[left...])
                return
            }
            left -= piece.count
            self.rest.removeFirst()
        }
    }
}
