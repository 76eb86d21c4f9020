import Foundation

/// What the system said about a write that failed.
package struct FileWriteFailure: Error, Hashable, Sendable {
    package let errno: Int32

    package init(errno: Int32) {
        self.errno = errno
    }
}

/// Writes to a file that is open, past the kernel's memory where it is large.
///
/// Of a byte that goes through the kernel's memory the kernel makes a copy, looks for its place and
/// lets go of it again, which takes the processor three times as long as to have the disk read it
/// where it is, and pushes out what others read. So the bytes of large files should lie at pages
/// (`AssetBuffers`); those that don't, a last part of a page, and all where the file system can do
/// nothing else, go through the kernel's memory.
///
/// Every call blocks, and nothing is durable for it.
/// - Source: `O_DIRECT` in open(2): memory, places and lengths are multiples of what the disk asks
///   for, a page at the most.
package final class FileWriter: Sendable {
    /// Smaller files are likely to be read soon, and stay in memory.
    package static let largeBytesMin: Int64 = 32 * 1_024 * 1_024
    package static let pageBytes = 4_096
    /// Pieces of one call of the system.
    private static let piecesMax = 64

    private let descriptor: Int32
    /// The same file once more, or `nil` if it is not large or the file system cannot do it.
    private let direct: Int32?

    /// - Parameters:
    ///   - descriptor: Open for writing, for longer than this; whoever opened it closes it.
    ///   - isLarge: Whether its bytes are not to stay in the kernel's memory.
    package init(_ descriptor: Int32, isLarge: Bool) {
        self.descriptor = descriptor
        let direct =
            isLarge ? open("/proc/self/fd/\(descriptor)", O_WRONLY | O_CLOEXEC | Self.directFlag) : -1
        self.direct = direct >= 0 ? direct : nil
    }

    deinit { if let direct { close(direct) } }

    /// Writes all bytes of all pieces from a place on, one behind the other.
    ///
    /// - Throws: At the first that failed; those before it may be in the file.
    package func write(_ pieces: [LentBytes], at offset: Int64) throws(FileWriteFailure) {
        var rest = Pieces(pieces)
        var place = offset
        while let next = rest.first {
            if let direct, let pages = rest.pages(at: place, max: Self.piecesMax) {
                let count = pwritev(direct, pages, Int32(pages.count), off_t(place))
                if try self.advance(&rest, &place, by: count) { continue }
                guard errno == EINVAL || errno == EOPNOTSUPP else { throw FileWriteFailure(errno: errno) }
            }
            let count = pwrite(self.descriptor, next.baseAddress, next.count, off_t(place))
            guard try self.advance(&rest, &place, by: count) else { throw FileWriteFailure(errno: errno) }
        }
    }

    /// Goes on behind what a call has written; `false`: it has failed, as `errno` says.
    private func advance(
        _ rest: inout Pieces,
        _ place: inout Int64,
        by count: Int
    ) throws(FileWriteFailure) -> Bool {
        // Of bytes that are there none taken, and no reason: to ask again might have no end.
        guard count != 0 else { throw FileWriteFailure(errno: EIO) }
        guard count > 0 else { return errno == EINTR }
        rest.remove(count)
        place += Int64(count)
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

/// What is still to be written.
private struct Pieces {
    private var rest: ArraySlice<LentBytes>

    init(_ pieces: [LentBytes]) {
        self.rest = pieces.filter { !$0.isEmpty }[...]
    }

    var first: LentBytes? { self.rest.first }

    /// The leading pieces that are whole pages at page boundaries, or `nil` if there are none, or if the
    /// offset is within a page.
    func pages(at place: Int64, max: Int) -> [iovec]? {
        guard place.isMultiple(of: Int64(FileWriter.pageBytes)) else { return nil }
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
                self.rest[self.rest.startIndex] = LentBytes(rebasing: piece[left...])
                return
            }
            left -= piece.count
            self.rest.removeFirst()
        }
    }
}
