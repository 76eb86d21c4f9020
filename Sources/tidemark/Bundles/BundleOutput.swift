import Foundation

/// The target of an export: a new file, which has its name once it is complete, or standard output.
///
/// One thread at a time.
final class BundleOutput: Sendable {
    let path: String?
    private let partialPath: String
    private let descriptor: Int32

    /// Makes the file; standard output if `path` is `nil`.
    ///
    /// - Throws: `cannotCreate`; `usage` if standard output is a terminal.
    init(path: String?) throws(CommandFailure) {
        self.path = path
        self.partialPath = (path ?? "") + ".unfinished"
        guard let path else {
            guard isatty(STDOUT_FILENO) == 0 else {
                throw CommandFailure(
                    .usage,
                    "a bundle is no text for a terminal. Name a file with --output, or pipe it."
                )
            }
            self.descriptor = STDOUT_FILENO
            return
        }
        guard !FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure(.cannotCreate, "the file \(path) exists. Name a new one, or remove it.")
        }
        self.descriptor = Foundation.open(self.partialPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard self.descriptor >= 0 else {
            throw CommandFailure(
                .cannotCreate,
                "the file \(self.partialPath) cannot be made. Check the folder and its permissions."
            )
        }
    }

    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        var written = 0
        while written < bytes.count {
            // SAFETY: the bytes are the array's, for the time of the call.
            let count = bytes.withUnsafeBytes { bytes in
                Foundation.write(self.descriptor, bytes.baseAddress! + written, bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw CommandFailure(
                    .cannotCreate,
                    "the output cannot be written: \(String(cString: strerror(errno)))."
                )
            }
            written += count
        }
    }

    /// Syncs the file, and gives it its name.
    func finish() throws(CommandFailure) {
        guard let path else { return }
        guard fsync(self.descriptor) == 0, rename(self.partialPath, path) == 0 else {
            throw CommandFailure(.cannotCreate, "the file \(path) cannot be made.")
        }
        close(self.descriptor)
    }

    /// Removes what there is of an export that failed.
    func discard() {
        if self.path != nil { unlink(self.partialPath) }
    }
}
