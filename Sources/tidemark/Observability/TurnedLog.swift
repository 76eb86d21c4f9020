import Foundation
import Logging
import ServerCertificates
import Synchronization

/// A log file of a bounded size: `log_file`.
///
/// Lines are appended. When the file has half of its bound it gets the name with `.1`, in place of
/// the one that had it, and the next line begins a new file. So the newer half of the bound is
/// always there. Nothing is synced: what a crash of the machine takes is on standard error as well.
final class TurnedLog: Sendable {
    private struct State {
        var descriptor: Int32
        var bytes: Int
        /// A disk that is full is worth one line on standard error.
        var hasFailed = false
    }

    let path: String
    /// Of both files.
    private let bytesMax: Int
    private let state: Mutex<State>

    /// Opens the file to append to it.
    ///
    /// - Throws: `cannotCreate`.
    init(path: String, bytesMax: Int) throws(CommandFailure) {
        self.path = path
        self.bytesMax = bytesMax
        let descriptor = Self.open(path)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .cannotCreate,
                "the log cannot be written to \(path): \(String(cString: strerror(errno))). Check its folder and who owns it."
            )
        }
        let bytes = lseek(descriptor, 0, SEEK_END)
        guard bytes >= 0, FileStatus(path: path)?.isFile == true else {
            close(descriptor)
            throw CommandFailure(
                .cannotCreate,
                "the log cannot be written to \(path): it is not a file. Name another with log_file."
            )
        }
        self.state = Mutex(State(descriptor: descriptor, bytes: Int(bytes)))
    }

    deinit { self.state.withLock { _ = close($0.descriptor) } }

    private static func open(_ path: String) -> Int32 {
        // Not one that waits for a reader. Lines name users, so the file is its owner's alone.
        Foundation.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
    }

    /// Writes a line, including its line break, in one call.
    ///
    /// A line that cannot be written is lost, and the server goes on.
    @Sendable
    func write(_ line: String) {
        let bytes = Array(line.utf8)
        let failure = self.state.withLock { state -> Int32? in
            if state.bytes + bytes.count > self.bytesMax / 2, state.bytes > 0 { self.turn(&state) }
            guard Foundation.write(state.descriptor, bytes, bytes.count) == bytes.count else {
                defer { state.hasFailed = true }
                return state.hasFailed ? nil : errno
            }
            state.bytes += bytes.count
            state.hasFailed = false
            return nil
        }
        guard let failure else { return }
        StandardError.write(
            "tidemark: lines are missing in \(self.path): \(String(cString: strerror(failure)))\n",
            level: .error
        )
    }

    /// Begins a new file; goes on with the old one if there can't be another.
    private func turn(_ state: inout State) {
        guard rename(self.path, self.path + ".1") == 0 else { return }
        let descriptor = Self.open(self.path)
        guard descriptor >= 0 else { return }
        close(state.descriptor)
        state.descriptor = descriptor
        state.bytes = 0
    }
}
