import Foundation

/// A failed system call on a file, with the number of `errno.h`.
package struct FileError: Error, Hashable, Sendable {
    package let errno: Int32

    package init(errno: Int32) {
        self.errno = errno
    }

    /// The error of the last system call of this thread.
    static var last: FileError { FileError(errno: Foundation.errno) }

    /// Whether there is no such file or folder.
    package var isMissing: Bool { self.errno == ENOENT }

    /// The system's text.
    package var reason: String { String(cString: strerror(self.errno)) }
}
