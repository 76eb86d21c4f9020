import ArgumentParser
import Foundation

/// `--config FILE --set NAME=VALUE`, for commands that need the settings of a server.
struct SettingsOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The server's settings; TIDEMARK_CONFIG without it.", valueName: "file"))
    var config: String?

    @Option(name: .customLong("set"), help: ArgumentHelp("Any setting. Repeatable.", valueName: "name=value"))
    var assignments: [String] = []

    /// Reads the settings as `tidemark serve` would with the same options and environment.
    func read() async throws -> Settings {
        let environment = ProcessInfo.processInfo.environment
        return try await SettingsReader(
            flags: try SettingsReader.flags(of: self.assignments),
            environment: environment,
            filePath: self.config ?? environment["TIDEMARK_CONFIG"]
        ).read()
    }
}
