private import Foundation
private import SystemCrypto

/// The 16 bytes that distinguish this installation's connections from those of the user's other
/// ones.
///
/// Each program is an installation of its own. The server keeps for each which notifications it has
/// acknowledged, so two programs do not take notifications from each other.
enum InstallationID {
    static let byteCount = 16

    /// The ID of this process: from the file in the user's state folder, or made for this process
    /// if that file can't be written.
    static let current: [UInt8] = Self.load(folder: Self.folder)

    /// The folder for this program's state.
    static let folder = Self.stateFolder(
        variables: ProcessInfo.processInfo.environment,
        program: CommandLine.arguments.first ?? ""
    )

    /// Returns the ID of one of several installations of this program on this machine, always the
    /// same for a name.
    static func current(named name: String) -> [UInt8] {
        Array(SHA256.hash(self.current + [UInt8](name.utf8)).prefix(self.byteCount))
    }

    /// Reads the installation's ID, or makes one and tries to store it.
    static func load(folder: String) -> [UInt8] {
        let file = folder + "/installation"
        if let kept = FileManager.default.contents(atPath: file), kept.count == self.byteCount {
            return [UInt8](kept)
        }
        let made = (0..<self.byteCount).map { _ in UInt8.random(in: .min ... .max) }
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // The write is atomic, so that no process reads half of it. If two processes make an ID at
        // once, the later one stays; the other is valid as long as its process runs.
        try? Data(made).write(to: URL(fileURLWithPath: file), options: .atomic)
        return made
    }

    /// Returns the folder for a program's state; of the path of the program, only the last part
    /// counts.
    static func stateFolder(variables: [String: String], program: String) -> String {
        let name = program.split(separator: "/").last.map { "/\($0)" } ?? ""
        return UserFolder.state.path(variables: variables) + "/tidemark" + name
    }
}
