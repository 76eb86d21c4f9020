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

    var folder: DataFolder {
        let environment = ProcessInfo.processInfo.environment["TIDEMARK_DATA"] ?? ""
        return DataFolder(path: self.path ?? (environment.isEmpty ? "./tidemark-data" : environment))
    }
}

/// Where a server keeps everything.
///
/// ```text
/// DIR/              0700
///     lock          held by the server that serves this folder; its process number
///     tls/          see ServerCertificates
///     assets/       see AssetStore
///     …             the engine's files
/// ```
struct DataFolder: Hashable {
    /// Absolute: what is printed is used from other folders.
    let path: String

    init(path: String) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    }

    var assetsPath: String { self.path + "/assets" }

    var exists: Bool { FileManager.default.fileExists(atPath: self.path) }

    /// Makes the folder when it is not there.
    func make() throws(CommandFailure) {
        do {
            try FileManager.default.createDirectory(
                atPath: self.path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "the data folder \(self.path) cannot be made. Name a folder that you may write to with --data."
            )
        }
        guard FileManager.default.isWritableFile(atPath: self.path) else {
            throw CommandFailure(
                .cannotCreate,
                "the data folder \(self.path) is not writable for this user. Name another with --data."
            )
        }
    }
}
