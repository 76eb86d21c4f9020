import Administration
import ArgumentParser
import Foundation

/// `--data DIR`, which every command takes.
struct DataOption: ParsableArguments {
    @Option(
        name: .customLong("data"),
        help: ArgumentHelp(
            "The folder of the server's data.",
            discussion: "Without it TIDEMARK_DATA, without that ./tidemark-data.",
            valueName: "dir"
        )
    )
    var path: String?

    var folder: DataFolder { .ofCommand(self.path) }
}

extension DataFolder {
    /// The folder of a command, by its option or by the environment.
    static func ofCommand(_ path: String?) -> DataFolder {
        let environment = ProcessInfo.processInfo.environment["TIDEMARK_DATA"] ?? ""
        return DataFolder(path: path ?? (environment.isEmpty ? "./tidemark-data" : environment))
    }
}
