internal import Foundation
private import Synchronization

/// The lock of the process that keeps a file in step: `flock` on a file beside it.
///
/// It ends with the process.
final class FileLock: Sendable {
    /// `nil` if the lock was released.
    private let descriptor: Mutex<Int32?>

    /// - Throws: `MirrorError`: `inUse` if another process has it, `readOnly`, `unusable`.
    init(of path: String) throws(MirrorError) {
        let descriptor = open("\(path)-sync", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            if [EACCES, EROFS, EPERM].contains(code) { throw .readOnly(path: path) }
            throw .unusable(path: path, detail: String(cString: strerror(code)))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .inUse(path: path)
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { self.release() }

    func release() {
        let descriptor = self.descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        if let descriptor { close(descriptor) }
    }
}
