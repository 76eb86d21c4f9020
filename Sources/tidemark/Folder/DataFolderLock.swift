import Administration
import Foundation
import ServerCertificates

/// Keeps a second server from serving the same folder.
///
/// The kernel releases the lock when the process ends, however it ends.
final class DataFolderLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Throws: `unavailable`, with the number of the process that has it; `configuration` if the
    ///   file is not a lock file; `cannotCreate`.
    init(folder: DataFolder) throws(CommandFailure) {
        let path = Self.path(in: folder)
        let descriptor = open(path, O_RDWR | O_CREAT | Self.asItIs, 0o600)
        guard descriptor >= 0 else {
            guard ![ELOOP, ENXIO, EISDIR].contains(errno) else { throw Self.isForeign(path) }
            throw CommandFailure(.cannotCreate, "\(path) cannot be written. Check who owns the data folder.")
        }
        guard Self.isFile(in: folder) else {
            close(descriptor)
            throw Self.isForeign(path)
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

    /// Replaces the description of the process that has the lock.
    func write(_ holder: LockHolder) {
        let text = Array(holder.text.utf8)
        // Write before truncating, so that no reader finds half a text.
        _ = pwrite(self.descriptor, text, text.count, 0)
        ftruncate(self.descriptor, off_t(text.count))
    }

    /// Tries for half a second, because a command that checks for a server takes the lock for a
    /// moment.
    private static func take(_ descriptor: Int32) -> Bool {
        for _ in 0..<50 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(10_000)
        }
        return false
    }

    /// Whether a server or a restore has locked the folder.
    static func isHeld(in folder: DataFolder) -> Bool {
        guard let file = self.reading(in: folder) else { return false }
        return flock(file.fileDescriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Opens the file for reading.
    ///
    /// Returns `nil` if it is missing or not a lock file.
    static func reading(in folder: DataFolder) -> FileHandle? {
        let descriptor = open(self.path(in: folder), O_RDONLY | self.asItIs)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        return self.isFile(in: folder) ? file : nil
    }

    /// Flags that neither follow a link nor wait for the other end of a pipe.
    ///
    /// The creator of a link could make the server write to any file.
    private static let asItIs = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK

    private static func path(in folder: DataFolder) -> String { folder.path + "/lock" }

    private static func isFile(in folder: DataFolder) -> Bool {
        FileStatus(path: self.path(in: folder), followsLinks: false)?.isFile ?? false
    }

    private static func isForeign(_ path: String) -> CommandFailure {
        CommandFailure(
            .configuration,
            "\(path) is a link, or another file that no server made, and is not written to. Find out who made it, "
                + "and remove it: rm \(ShellText.quoted(path))"
        )
    }

    deinit {
        close(self.descriptor)
    }
}
