import Console
import Foundation

/// The location of a server's log, in a line of its lock, for the console.
extension LogDestination {
    private static let fileWord = "file "
    private static let journalWord = "journal "

    /// `nil` if there is nothing to say.
    var line: String? {
        switch self {
        case .file(let path): Self.fileWord + path
        case .journal(let unit): Self.journalWord + unit
        case .unknown: nil
        }
    }

    init?(line: String) {
        if line.hasPrefix(Self.fileWord + "/") {
            self = .file(String(line.dropFirst(Self.fileWord.count)))
        } else if line.hasPrefix(Self.journalWord), Self.isUnit(line.dropFirst(Self.journalWord.count)) {
            self = .journal(unit: String(line.dropFirst(Self.journalWord.count)))
        } else {
            return nil
        }
    }

    private static func isUnit(_ name: Substring) -> Bool {
        name.wholeMatch(of: /[A-Za-z0-9:_.\\@-]{1,247}\.service/) != nil
    }

    /// The location of this process's own log.
    ///
    /// If that is the journal, the control group has the name of the unit.
    ///
    /// - Source: cgroups(7), */proc/PID/cgroup*.
    static func ofServer(
        filePath: String?,
        environment: [String: String],
        groups: String? = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8),
        errors: Int32 = STDERR_FILENO
    ) -> LogDestination {
        if let filePath { return .file(filePath) }
        guard Journal.isBehind(errors, environment: environment) else { return .unknown }
        let unit = (groups ?? "").split(separator: "\n").lazy.compactMap { group in
            group.split(separator: "/").last { self.isUnit($0) }
        }.first
        return unit.map { .journal(unit: String($0)) } ?? .unknown
    }
}
