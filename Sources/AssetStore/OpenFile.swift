import Crypto
import Foundation

/// An open file, closed with its last reference.
///
/// Every call blocks.
final class OpenFile: Sendable {
    enum Mode {
        case read
        /// Made if it does not exist, readable for its owner only. Symbolic links are not followed.
        case write
    }

    let descriptor: Int32

    init(path: String, _ mode: Mode) throws(AssetStoreError) {
        let flags =
            switch mode {
            case .read: O_RDONLY
            case .write: O_RDWR | O_CREAT | O_NOFOLLOW
            }
        self.descriptor = open(path, flags | O_CLOEXEC, 0o600)
        guard self.descriptor >= 0 else { throw AssetStoreError(errno: errno) }
    }

    deinit { close(self.descriptor) }

    func size() throws(AssetStoreError) -> Int64 {
        var status = stat()
        guard fstat(self.descriptor, &status) == 0 else { throw AssetStoreError(errno: errno) }
        return Int64(status.st_size)
    }

    /// Writes all bytes at an offset.
    ///
    /// SAFETY: the bytes are read within the call only, and no more of them than there are.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(AssetStoreError) {
        var rest = bytes
        var position = offset
        while let base = rest.baseAddress, rest.count > 0 {
            let written = pwrite(self.descriptor, base, rest.count, off_t(position))
            if written < 0 {
                guard errno == EINTR else { throw AssetStoreError(errno: errno) }
                continue
            }
            position += Int64(written)
            // SAFETY: the rest of bytes that the caller keeps until we return.
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
    }

    /// Reads as many bytes as fit, fewer at the end of the file.
    ///
    /// Returns their number.
    ///
    /// SAFETY: the buffer is written to within the call only, and not behind its end.
    func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(AssetStoreError) -> Int {
        var count = 0
        while let base = bytes.baseAddress, count < bytes.count {
            let read = pread(self.descriptor, base + count, bytes.count - count, off_t(offset) + off_t(count))
            if read == 0 { break }
            if read < 0 {
                guard errno == EINTR else { throw AssetStoreError(errno: errno) }
                continue
            }
            count += read
        }
        return count
    }

    private static let hashedBytes = 256 * 1_024

    /// Hashes bytes of the file.
    ///
    /// Returns `false` if it ends before them.
    ///
    /// `progress` gets the number of bytes since the last call.
    func hash(
        _ range: Range<Int64>,
        into hash: inout SHA256,
        progress: (Int) -> Void = { _ in }
    ) throws(AssetStoreError) -> Bool {
        // SAFETY: the buffer is used in this call only, within its bounds, and freed at its end.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.hashedBytes, alignment: 16)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        var ahead = ReadAhead(self, range)
        while offset < range.upperBound {
            ahead.willRead(at: offset)
            let wanted = Int(min(Int64(Self.hashedBytes), range.upperBound - offset))
            // SAFETY: the beginning of the buffer above.
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            guard try self.read(into: piece, at: offset) == wanted else { return false }
            // SAFETY: the same bytes, all of which were read.
            hash.update(bufferPointer: UnsafeRawBufferPointer(piece))
            offset += Int64(wanted)
            progress(wanted)
        }
        return true
    }

    func cut(to size: Int64) throws(AssetStoreError) {
        guard ftruncate(self.descriptor, off_t(size)) == 0 else { throw AssetStoreError(errno: errno) }
    }

    /// Returns when the bytes and the size are on the disk.
    func sync() throws(AssetStoreError) {
        guard fdatasync(self.descriptor) == 0 else { throw AssetStoreError(errno: errno) }
    }

    /// Removes durable bytes from the page cache, in whole pages.
    ///
    /// The kernel begins to write the others.
    ///
    /// The bytes that come next then reuse the memory. Otherwise each page of a large file would be
    /// a new one. That takes several times as long as the writing, and evicts what others read.
    func release(_ range: Range<Int64>) {
        _ = posix_fadvise(
            self.descriptor,
            off_t(range.lowerBound),
            off_t(range.count),
            POSIX_FADV_DONTNEED
        )
    }

    /// Turns off the kernel's own read-ahead for this file.
    func readOnlyWhatIsAskedFor() {
        _ = posix_fadvise(self.descriptor, 0, 0, POSIX_FADV_RANDOM)
    }

    /// Announces that bytes will be read soon.
    func prefetch(_ count: Int, at offset: Int64) {
        _ = posix_fadvise(self.descriptor, off_t(offset), off_t(count), POSIX_FADV_WILLNEED)
    }
}
