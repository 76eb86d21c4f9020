package import Foundation

/// An open file, closed with its last reference.
///
/// Every call blocks.
package final class OpenFile: Sendable {
    package enum Mode {
        /// Does not wait for the other end of a pipe that was named by mistake.
        case read
        /// Created if it does not exist, readable for its owner only. Symbolic links are not
        /// followed.
        case write
        /// Like `write`, and truncates an existing file.
        ///
        /// The kernel truncates it while opening it. Truncating an open file would make ext4
        /// allocate its blocks when it is closed, at 40 µs a file.
        case replace
    }

    package let descriptor: Int32

    package init(path: String, _ mode: Mode) throws(FileError) {
        let flags =
            switch mode {
            case .read: O_RDONLY | O_NONBLOCK
            case .write: O_RDWR | O_CREAT | O_NOFOLLOW
            case .replace: O_RDWR | O_CREAT | O_NOFOLLOW | O_TRUNC
            }
        self.descriptor = open(path, flags | O_CLOEXEC, 0o600)
        guard self.descriptor >= 0 else { throw .last }
    }

    /// Opens a possible pipe, and waits for its other end; standard input if `nil`.
    package init(waitingFor path: String?) throws(FileError) {
        self.descriptor =
            path.map { open($0, O_RDONLY | O_CLOEXEC) } ?? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        guard self.descriptor >= 0 else { throw .last }
    }

    deinit { close(self.descriptor) }

    /// Kind, size, identity and times.
    package func status() throws(FileError) -> stat {
        var status = stat()
        guard fstat(self.descriptor, &status) == 0 else { throw .last }
        return status
    }

    /// Whether it is a regular file, which can be read twice.
    package func isRegular() throws(FileError) -> Bool { try self.status().st_mode & S_IFMT == S_IFREG }

    package func size() throws(FileError) -> Int64 { Int64(try self.status().st_size) }

    /// Writes all bytes at an offset, through the page cache.
    package func write(_ bytes: FileBytes, at offset: Int64) throws(FileError) {
        var rest = bytes
        var position = offset
        while let base = rest.baseAddress, rest.count > 0 {
            let written = pwrite(self.descriptor, base, rest.count, off_t(position))
            if written < 0 {
                guard errno == EINTR else { throw .last }
                continue
            }
            // A retry might never end.
            guard written > 0 else { throw FileError(errno: EIO) }
            position += Int64(written)
            // SAFETY: the rest of bytes that the caller keeps until we return.
            rest = FileBytes(rebasing: rest[written...])
        }
    }

    /// Reads as many bytes as fit, fewer at the end of the file.
    ///
    /// - Returns: The number of bytes.
    package func read(into bytes: FileMemory, at offset: Int64) throws(FileError) -> Int {
        var count = 0
        while let base = bytes.baseAddress, count < bytes.count {
            let read = pread(self.descriptor, base + count, bytes.count - count, off_t(offset) + off_t(count))
            if read == 0 { break }
            if read < 0 {
                guard errno == EINTR else { throw .last }
                continue
            }
            count += read
        }
        return count
    }

    /// Reads the next available bytes of a pipe: at least one before the end.
    package func readNext(into bytes: FileMemory) throws(FileError) -> Int {
        while true {
            let count = Foundation.read(self.descriptor, bytes.baseAddress, bytes.count)
            guard count < 0 else { return count }
            guard errno == EINTR else { throw .last }
        }
    }

    package func cut(to size: Int64) throws(FileError) {
        guard ftruncate(self.descriptor, off_t(size)) == 0 else { throw .last }
    }

    /// Returns when the bytes and the size are on the disk.
    package func sync() throws(FileError) {
        guard fdatasync(self.descriptor) == 0 else { throw .last }
    }

    /// Removes durable bytes from the page cache, in whole pages.
    ///
    /// The kernel begins to write the others.
    ///
    /// Later bytes then reuse the memory. Otherwise each page of a large file would be a new one.
    /// That takes several times as long as the writing, and evicts pages that others read.
    package func release(_ range: Range<Int64>) {
        _ = posix_fadvise(
            self.descriptor,
            off_t(range.lowerBound),
            off_t(range.count),
            POSIX_FADV_DONTNEED
        )
    }

    /// Turns off the kernel's own read-ahead for this file.
    package func readOnlyWhatIsAskedFor() {
        _ = posix_fadvise(self.descriptor, 0, 0, POSIX_FADV_RANDOM)
    }

    /// Announces that bytes will be read soon.
    package func prefetch(_ count: Int, at offset: Int64) {
        _ = posix_fadvise(self.descriptor, off_t(offset), off_t(count), POSIX_FADV_WILLNEED)
    }
}
