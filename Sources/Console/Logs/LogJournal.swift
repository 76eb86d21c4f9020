import Foundation
import HTTPTypes

/// Reads the lines of a unit from the journal of systemd, with `journalctl`.
///
/// A position is a cursor of the journal.
///
/// - Source: journalctl(1); systemd, *Journal JSON Format*.
struct LogJournal: Hashable, Sendable {
    /// The maximum number of journal lines that a page examines before it shows that there are more.
    private static let scannedMax = 5_000
    private static let outputBytesMax = 16 * 1_024 * 1_024
    private static let program = "/usr/bin/journalctl"

    let unit: String
    /// `nil` for that of the system; a test has one of its own.
    var folder: String?

    private struct Line {
        var cursor: String
        var text: String
    }

    /// The newest lines before a position, or of all.
    ///
    /// - Throws: `PageFailure`.
    func page(before cursor: String?, _ filter: LogFilter) throws -> LogPage {
        let lines = try self.read(
            ["--reverse", "--lines=\(Self.scannedMax)"] + (cursor.map { ["--after-cursor=\($0)"] } ?? [])
        )
        var page = LogPage(end: lines.first?.cursor ?? "")
        for line in lines {
            let entry = LogEntry(line: line.text)
            guard filter.admits(entry) else { continue }
            page.entries.append(entry)
            guard page.entries.count < LogSource.linesMax else {
                page.older = line.cursor
                return page
            }
        }
        page.older = lines.count == Self.scannedMax ? lines.last?.cursor : nil
        return page
    }

    /// Lines after a position.
    ///
    /// - Throws: `PageFailure`.
    func news(after cursor: String, _ filter: LogFilter) throws -> LogNews {
        // Without a line there is no cursor yet: what comes is all new.
        let start = cursor.isEmpty ? [] : ["--after-cursor=\(cursor)"]
        let lines = try self.read(start + ["--lines=\(LogSource.linesMax)"])
        return LogNews(
            entries: lines.map { LogEntry(line: $0.text) }.filter { filter.admits($0) },
            end: lines.last?.cursor ?? cursor
        )
    }

    // MARK: The program

    private func read(_ arguments: [String]) throws -> [Line] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments =
            ["--output=json", "--output-fields=MESSAGE", "--no-pager", "--quiet", "--unit=\(self.unit)"]
            + (self.folder.map { ["--directory=\($0)"] } ?? []) + arguments
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        do { try process.run() } catch { throw Self.failure("\(Self.program) cannot be started") }
        var text = Data()
        while text.count < Self.outputBytesMax,
            let part = try? output.fileHandleForReading.read(upToCount: 1_024 * 1_024), !part.isEmpty
        {
            text += part
        }
        // The process may still write, and the console reads no more of it.
        if text.count >= Self.outputBytesMax { process.terminate() }
        let said = (try? errors.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 || text.count >= Self.outputBytesMax else {
            throw Self.failure(String(decoding: said.prefix(500), as: UTF8.self))
        }
        return text.split(separator: UInt8(ascii: "\n")).compactMap { Self.line(Data($0)) }
    }

    private static func line(_ json: Data) -> Line? {
        guard let object = try? JSONSerialization.jsonObject(with: json) as? [String: Any],
            let cursor = object["__CURSOR"] as? String
        else { return nil }
        // Text that is no UTF-8 comes as an array of bytes.
        let bytes = (object["MESSAGE"] as? [Int])?.map { UInt8(truncatingIfNeeded: $0) } ?? []
        let text = object["MESSAGE"] as? String ?? String(decoding: bytes, as: UTF8.self)
        return Line(cursor: cursor, text: text)
    }

    private static func failure(_ reason: String) -> PageFailure {
        PageFailure(
            .serviceUnavailable,
            "No log",
            "The journal cannot be read: \(reason.trimmingCharacters(in: .whitespacesAndNewlines)). The user of the "
                + "console has to be in the group systemd-journal; or let the server write a file with log_file."
        )
    }
}
