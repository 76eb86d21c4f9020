import Foundation
import RecordModel

/// The subject of a measurement, and its machine.
///
/// Two reports can only be compared if both are known.
struct RunContext: Codable, Sendable {
    /// Name, version and build of the server, as it reports them.
    var server = ""
    var address: String
    var container: String
    var environment: String
    var users: Int
    /// Version of this program.
    var version: String
    var host: String
    var processors: Int
    var memoryBytes: UInt64
    var system: String
    /// As given, without tokens.
    var commandLine: String

    init(_ target: Target, arguments: [String] = CommandLine.arguments) {
        self.address = "\(target.host):\(target.port)"
        self.container = target.container
        self.environment = target.environment == .production ? "production" : "development"
        self.users = target.tokens.count
        self.version = "\(Release.version) (\(Release.build))"
        self.host = ProcessInfo.processInfo.hostName
        self.processors = ProcessInfo.processInfo.activeProcessorCount
        self.memoryBytes = ProcessInfo.processInfo.physicalMemory
        self.system = Self.system(
            release: (try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)) ?? ""
        )
        self.commandLine = Self.line(arguments)
    }

    /// Whether the figures are from a debug build, and so meaningless for production.
    var isDebugBuild: Bool { self.server.contains("(debug)") || self.version.contains("(debug)") }

    /// Name of the distribution, version of the kernel, architecture.
    private static func system(release: String) -> String {
        let key = "PRETTY_NAME="
        let line = release.split(separator: "\n").first { $0.hasPrefix(key) }
        let name = line.map { $0.dropFirst(key.count).filter { $0 != "\"" } } ?? "Linux"
        let kernel = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        let version = kernel?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        #if arch(x86_64)
        let architecture = "x86_64"
        #elseif arch(arm64)
        let architecture = "arm64"
        #else
        let architecture = ""
        #endif
        return [name, version, architecture].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private static let secretNames = ["--token", "--user-token"]

    /// The command in the form for a shell.
    static func line(_ arguments: [String]) -> String {
        var words = ["tidemark-load"]
        var isSecret = false
        for argument in arguments.dropFirst() {
            if isSecret {
                words.append("…")
            } else if let name = Self.secretNames.first(where: { argument.hasPrefix($0 + "=") }) {
                words.append("\(name)=…")
            } else {
                words.append(self.quoted(argument))
            }
            isSecret = Self.secretNames.contains(argument)
        }
        return words.joined(separator: " ")
    }

    private static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "-_./:=,%@+".contains($0) }
        return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
