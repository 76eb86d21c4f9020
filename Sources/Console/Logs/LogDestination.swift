/// The location of a server's log.
package enum LogDestination: Hashable, Sendable {
    /// A file that the server writes and rotates: the older half is at the same path with `.1`.
    case file(String)
    /// The journal of systemd, which has the unit's standard error.
    case journal(unit: String)
    /// The server writes to standard error alone, or the location is unknown.
    case unknown

    /// The reader of the log; `nil` if nothing can read it.
    var source: LogSource? {
        switch self {
        case .file(let path): .file(LogFile(path: path))
        case .journal(let unit): .journal(LogJournal(unit: unit))
        case .unknown: nil
        }
    }
}

/// Lines of a log, from the newest back.
struct LogPage: Hashable, Sendable {
    /// The newest first.
    var entries: [LogEntry] = []
    /// The position of older lines; `nil` at the beginning.
    var older: String?
    /// The position after the newest line that was examined.
    var end: String
}

/// Lines that have come since a position, the oldest first.
struct LogNews: Hashable, Sendable {
    var entries: [LogEntry] = []
    var end: String
}

/// A log that can be read.
///
/// A position is a text that only its source understands. All calls block, and examine a bounded
/// number of bytes or lines.
enum LogSource: Sendable {
    /// Lines of a page.
    static let linesMax = 100

    case file(LogFile)
    case journal(LogJournal)

    /// - Throws: `PageFailure`.
    func page(before position: String?, _ filter: LogFilter) throws -> LogPage {
        switch self {
        case .file(let file): try file.page(before: position, filter)
        case .journal(let journal): try journal.page(before: position, filter)
        }
    }

    /// - Throws: `PageFailure`.
    func news(after position: String, _ filter: LogFilter) throws -> LogNews {
        switch self {
        case .file(let file): try file.news(after: position, filter)
        case .journal(let journal): try journal.news(after: position, filter)
        }
    }
}
