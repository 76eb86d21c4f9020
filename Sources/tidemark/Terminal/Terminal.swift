import Foundation
import Logging
import RecordModel

/// Writes without buffering, also to a pipe: a program that starts a server waits for its first
/// line.
///
/// Control characters are escaped, because names, values and messages are untrusted.
enum Terminal {
    static func write(_ text: String) {
        FileHandle.standardOutput.write(Data(PrintedText.lines(text).utf8))
    }

    /// Writes lines of a format.
    ///
    /// A file or a program gets them as they are: CSV has no escapes. Those of JSON have them already.
    static func write(_ bytes: [UInt8]) {
        guard isatty(STDOUT_FILENO) == 1 else { return FileHandle.standardOutput.write(Data(bytes)) }
        self.write(String(decoding: bytes, as: UTF8.self))
    }

    static func writeError(_ text: String) {
        FileHandle.standardError.write(Data(PrintedText.lines(text).utf8))
    }

    /// Writes why something has failed, also for `journalctl -p err`.
    static func writeFailure(_ text: String) {
        let lines = PrintedText.lines(text)
        let marked = Journal.isBehindErrors ? Journal.prioritized(lines, .error) : lines
        FileHandle.standardError.write(Data(marked.utf8))
    }

    /// Writes the commands of a terminal to standard error.
    static func draw(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }

    /// Columns of text, as wide as their widest cell, two spaces apart.
    static func table(header: [String], rows: [[String]]) -> String {
        let lines = ([header] + rows).map { $0.map(PrintedText.line) }
        let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            var text = ""
            for (column, cell) in line.enumerated() {
                text += cell
                if column < line.count - 1 {
                    text += String(repeating: " ", count: widths[column] - cell.count + 2)
                }
            }
            return text + "\n"
        }.joined()
    }
}
