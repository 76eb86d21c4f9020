import Foundation

/// Keeps a second server from serving the same folder.
///
/// The kernel gives it back when the process ends, however it ends.
struct DataFolderLock: ~Copyable {
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
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            let holder = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            let process = holder.trimmingCharacters(in: .whitespacesAndNewlines)
            throw CommandFailure(
                .unavailable,
                "another server (process \(process.isEmpty ? "unknown" : process)) serves \(folder.path). "
                    + "Stop it first, or name another folder with --data."
            )
        }
        self.descriptor = descriptor
        ftruncate(descriptor, 0)
        let text = "\(getpid())\n"
        _ = Foundation.write(descriptor, text, text.utf8.count)
    }

    deinit {
        close(self.descriptor)
    }
}
