import Console
import Foundation
import Logging

/// The journal of systemd, if standard error leads to it.
enum Journal {
    /// Whether it does in this process.
    static let isBehindErrors = Self.isBehind(
        STDERR_FILENO,
        environment: ProcessInfo.processInfo.environment
    )

    /// Whether a descriptor leads to the journal.
    ///
    /// systemd says in `JOURNAL_STREAM` which file does. Descriptors may have been led elsewhere
    /// since, and the variable may be that of another process.
    ///
    /// - Source: systemd.exec(5), *Environment Variables*.
    static func isBehind(_ descriptor: Int32, environment: [String: String]) -> Bool {
        guard let stream = environment["JOURNAL_STREAM"], let status = OpenedFileStatus(of: descriptor)
        else { return false }
        return stream == "\(status.device):\(status.number)"
    }

    /// Lines with the priority of a level, for `journalctl -p`.
    ///
    /// The journal takes the priority off. Each line has its own, since each becomes an entry.
    ///
    /// - Source: sd-daemon(3); syslog(3) for the numbers.
    static func prioritized(_ text: String, _ level: Logger.Level) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { $0.isEmpty ? "" : "<\(self.priority(of: level))>\($0)" }.joined(separator: "\n")
    }

    private static func priority(of level: Logger.Level) -> Int {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }
}
