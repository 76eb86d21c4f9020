import Foundation

/// A failed system call on a file, with the number of `errno.h`.
package struct FileError: Error, Hashable, Sendable {
    package let errno: Int32

    package init(errno: Int32) {
        self.errno = errno
    }

    /// The system's error that Foundation has wrapped; `nil` if it is not a file error.
    package init?(wrapped error: any Error) {
        switch error {
        case let error as FileError: self = error
        case let error as POSIXError: self.init(errno: error.code.rawValue)
        case let error as CocoaError:
            if let underlying = error.underlying, let inner = FileError(wrapped: underlying) {
                self = inner
            } else if let errno = Self.errno(of: error.code) {
                self.init(errno: errno)
            } else {
                return nil
            }
        default: return nil
        }
    }

    /// The number for a code that Foundation may report without the system's error.
    private static func errno(of code: CocoaError.Code) -> Int32? {
        switch code {
        case .fileWriteOutOfSpace: ENOSPC
        case .fileWriteVolumeReadOnly: EROFS
        case .fileWriteNoPermission, .fileReadNoPermission: EACCES
        case .fileWriteFileExists: EEXIST
        case .fileNoSuchFile, .fileReadNoSuchFile: ENOENT
        default: nil
        }
    }

    /// The text for an error of a file, whether Foundation has wrapped it or not.
    package static func reason(_ error: any Error) -> String {
        FileError(wrapped: error)?.reason ?? error.localizedDescription
    }

    /// The error of the last system call of this thread.
    static var last: FileError { FileError(errno: Foundation.errno) }

    /// Whether there is no such file or folder.
    package var isMissing: Bool { self.errno == ENOENT }

    /// The system's text.
    package var reason: String { String(cString: strerror(self.errno)) }
}
