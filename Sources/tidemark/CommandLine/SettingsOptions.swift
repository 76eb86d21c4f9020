import Administration
import ArgumentParser

/// `--config FILE --set NAME=VALUE`, for commands that need the settings of a server.
struct SettingsOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The server's settings; TIDEMARK_CONFIG without it.", valueName: "file"))
    var config: String?

    @Option(name: .customLong("set"), help: ArgumentHelp("Any setting. Repeatable.", valueName: "name=value"))
    var assignments: [String] = []

    /// Reads the settings as `tidemark serve` would with the same options and environment.
    ///
    /// Without a file of settings, the settings of the server of a folder replace it.
    func read(beside folder: DataFolder?) async throws -> Settings {
        try await SettingsReader.settings(
            beside: folder,
            filePath: self.config,
            assignments: self.assignments
        )
    }
}
