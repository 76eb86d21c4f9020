import Foundation

/// Keeps a second server from serving the same folder.
///
/// The kernel gives it back when the process ends, however it ends.
final class DataFolderLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Throws: `unavailable`, with the number of the process that has it; `cannotCreate`.
    init(folder: DataFolder) throws(CommandFailure) {
        let path = folder.path + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.cannotCreate, "\(path) cannot be written. Check who owns the data folder.")
        }
        guard Self.take(descriptor) else {
            close(descriptor)
            let process = LockHolder(in: folder).map { "\($0.process)" } ?? "unknown"
            throw CommandFailure(
                .unavailable,
                "another server (process \(process)) serves \(folder.path). "
                    + "Stop it first, or name another folder with --data."
            )
        }
        self.descriptor = descriptor
        self.write(LockHolder(process: getpid()))
    }

    /// Says who has the lock, in the place of what was said before.
    func write(_ holder: LockHolder) {
        let text = Array(holder.text.utf8)
        // Longer texts take the place of shorter ones: nobody reads half of one.
        _ = pwrite(self.descriptor, text, text.count, 0)
        ftruncate(self.descriptor, off_t(text.count))
    }

    /// Tries for half a second: a command that asks whether a server is there takes the lock for a moment.
    private static func take(_ descriptor: Int32) -> Bool {
        for _ in 0..<50 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(10_000)
        }
        return false
    }

    /// Whether a server, or a restore, has the folder.
    static func isHeld(in folder: DataFolder) -> Bool {
        let descriptor = open(folder.path + "/lock", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    deinit {
        close(self.descriptor)
    }
}
