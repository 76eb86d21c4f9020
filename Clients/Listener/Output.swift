import Foundation
import RecordModel

/// The output: each line is written at once, also into a pipe.
///
/// Names, values and messages come from a server and from other users, so what a terminal would obey is
/// escaped. The escapes are those of JSON, and keep a line of it what it is.
enum Output {
    /// Prints a notification or a change.
    static func line(_ text: String) throws(ListenFailure) {
        guard let reason = self.write(PrintedText.line(text) + "\n", to: STDOUT_FILENO) else { return }
        throw ListenFailure(.output, "the output is closed (\(reason))")
    }

    /// Prints the state of the listener for people, who need not read it.
    static func status(_ text: String) {
        _ = self.write("tidemark-listen: \(PrintedText.line(text))\n", to: STDERR_FILENO)
    }

    /// - Returns: Why not all was written, in the system's words; `nil` if all was.
    private static func write(_ text: String, to descriptor: Int32) -> String? {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            // SAFETY: the bytes are lent for the time of the call, which reads as many as it is
            // told.
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(cString: strerror(errno)) }
            rest = rest.dropFirst(count)
        }
        return nil
    }
}
