import Foundation

/// Where lines go: each is written at once, also when the other end is a pipe.
enum Output {
    /// Prints a notification or a change.
    static func line(_ text: String) throws(ListenFailure) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
        } catch {
            throw ListenFailure(.output, "nobody reads the output: \(error.localizedDescription)")
        }
    }

    /// Tells people how things stand.
    ///
    /// Nobody need read it.
    static func status(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("tidemark-listen: \(text)\n".utf8))
    }
}
