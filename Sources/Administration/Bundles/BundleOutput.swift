import FileIO
import Foundation

/// The target of an export: a new file, which has its name once it is complete, or standard output.
///
/// One thread at a time.
package final class BundleOutput: Sendable {
    package let path: String?
    private let partialPath: String
    private let descriptor: Int32

    /// Makes the file; standard output if `path` is `nil`.
    ///
    package init(path: String?) throws(BundleFailure) {
        self.path = path
        self.partialPath = (path ?? "") + ".unfinished"
        guard let path else {
            self.descriptor = STDOUT_FILENO
            return
        }
        guard !FileManager.default.fileExists(atPath: path) else {
            throw .outputExists(path)
        }
        self.descriptor = Foundation.open(self.partialPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard self.descriptor >= 0 else { throw .outputNotMade(self.partialPath) }
    }

    func write(_ bytes: [UInt8]) throws(BundleFailure) {
        var written = 0
        while written < bytes.count {
            // SAFETY: the bytes are the array's, for the time of the call.
            let count = bytes.withUnsafeBytes { bytes in
                Foundation.write(self.descriptor, bytes.baseAddress! + written, bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw .outputNotWritten(FileError(errno: errno))
            }
            written += count
        }
    }

    /// Syncs the file, and gives it its name.
    package func finish() throws(BundleFailure) {
        guard let path else { return }
        guard fsync(self.descriptor) == 0, rename(self.partialPath, path) == 0 else {
            throw .outputNotNamed(path)
        }
        close(self.descriptor)
    }

    /// Removes the partial file of an export that failed.
    package func discard() {
        if self.path != nil { unlink(self.partialPath) }
    }
}
