import Foundation

/// Lets one process at a time create or migrate the tables of a folder's file.
///
/// GRDB checks once which migrations a file has, then runs each of the others in a transaction of
/// its own. Two processes that check at the same time would both run all of them. SQLite's own
/// locks do not help: switching a new file to a write-ahead log fails at once if another connection
/// is open.
///
/// The kernel's lock is on the folder itself, so no lock file is left. It ends with the process,
/// however that ends.
struct FormatLock: ~Copyable {
    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Returns: `nil` if another process has it and `waits` is false.
    init?(folder: String, waits: Bool) throws {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.lastError }
        while flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            guard errno != EINTR else { continue }
            let error = Self.lastError
            close(descriptor)
            guard error.code == .EWOULDBLOCK else { throw error }
            return nil
        }
        self.descriptor = descriptor
    }

    private static var lastError: POSIXError { POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }

    deinit {
        close(self.descriptor)
    }
}
