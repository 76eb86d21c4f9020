import Foundation

/// A file that is open, closed when nobody has it any more.
///
/// Every call blocks.
final class OpenFile: Sendable {
    enum Mode {
        case read
        /// Made when it is not there, readable for its owner only.
        case write
    }

    let descriptor: Int32

    init(path: String, _ mode: Mode) throws(AssetStoreError) {
        let flags =
            switch mode {
            case .read: O_RDONLY
            case .write: O_RDWR | O_CREAT
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

    /// Writes all bytes at their place.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(AssetStoreError) {
        var rest = bytes
        var place = offset
        while let base = rest.baseAddress, rest.count > 0 {
            let written = pwrite(self.descriptor, base, rest.count, off_t(place))
            if written < 0 {
                guard errno == EINTR else { throw AssetStoreError(errno: errno) }
                continue
            }
            place += Int64(written)
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
    }

    /// Reads as many bytes as fit, fewer at the end of the file; answers how many.
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

    func cut(to size: Int64) throws(AssetStoreError) {
        guard ftruncate(self.descriptor, off_t(size)) == 0 else { throw AssetStoreError(errno: errno) }
    }

    /// Returns when the bytes, and the size, are on the disk.
    func sync() throws(AssetStoreError) {
        guard fdatasync(self.descriptor) == 0 else { throw AssetStoreError(errno: errno) }
    }

    /// Says that bytes will be read soon.
    func prefetch(_ count: Int, at offset: Int64) {
        _ = posix_fadvise(self.descriptor, off_t(offset), off_t(count), POSIX_FADV_WILLNEED)
    }
}
