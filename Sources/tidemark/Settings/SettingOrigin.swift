/// The origin of a setting's value.
enum SettingOrigin: Hashable, Sendable, CustomStringConvertible {
    case flag
    case environment
    case file(String)

    var description: String {
        switch self {
        case .flag: "flag"
        case .environment: "environment"
        case .file(let path): path
        }
    }

    /// The error for an invalid value, with the file or the variable to change.
    func failure(of name: String, _ problem: String) -> CommandFailure {
        self.failure(of: name, CommandFailure(.usage, "\(name) \(problem)"))
    }

    func failure(of name: String, _ failure: CommandFailure) -> CommandFailure {
        switch self {
        case .flag: failure
        case .environment: CommandFailure(.usage, "\(SettingVariable.name(of: name)): \(failure.message)")
        case .file(let path): CommandFailure(.usage, "\(path): \(failure.message)")
        }
    }
}

/// Environment variables that begin with `TIDEMARK_`.
enum SettingVariable {
    private static let prefix = "TIDEMARK_"
    /// Variables that commands, clients, and the scripts and tests of the repository read, and that are
    /// not settings of a server.
    private static let others = [
        "DATA", "CONFIG", "AS", "URL", "CA", "CONTAINER", "ENVIRONMENT", "TOKEN", "SERVICE_KEY",
        "ON_BEHALF_OF", "SCHEMA", "CACHE", "BIN", "BENCH", "BENCH_DIVISOR", "CHROMIUM", "CLUSTER_SECONDS",
        "CRASH_ROUNDS", "DAMAGE_TRIALS", "FOLLOW_KILLS", "FUZZ", "LOAD_DATA", "LOAD_SECONDS", "LOAD_USERS",
        "CRASH_ROUNDS", "DAMAGE_TRIALS", "FOLLOW_KILLS", "FUZZ", "LOAD_DATA", "LOAD_SECONDS", "LOAD_USERS",
        "MIRROR_ROUNDS", "PACKAGES", "POSTGRES_BIN", "POSTGRES_VERSION", "STILL_SECONDS", "SYNC_SECONDS",
        "TEST_ENGINE", "USERS",
    ]

    struct Unknown: Hashable, Sendable {
        let name: String
        /// `nil` if no name is near.
        let nearest: String?
    }

    static func name(of setting: String) -> String { self.prefix + setting.uppercased() }

    /// Variables with unknown names, which are mostly typing errors, by name.
    static func unknown(in environment: [String: String]) -> [Unknown] {
        let known = SettingsReader.names.map { self.name(of: $0) } + self.others.map { self.prefix + $0 }
        return environment.keys.filter { $0.hasPrefix(self.prefix) && !known.contains($0) }.sorted().map {
            Unknown(name: $0, nearest: NearestName.to($0, among: known))
        }
    }
}
