private import Crypto
private import Foundation

/// The 16 bytes by which a server tells this installation's connections from those of others of the same user.
///
/// Each program is an installation of its own: the server keeps how far an installation has heard of what happened, and what one program has
/// taken care of is still news to another.
enum InstallationID {
    static let byteCount = 16

    /// This process's: from the file of the user's state folder, or, where none can be written, made for this process.
    static let current: [UInt8] = Self.load(folder: Self.folder)

    /// The folder for what this program keeps.
    static let folder = Self.stateFolder(
        variables: ProcessInfo.processInfo.environment,
        program: CommandLine.arguments.first ?? ""
    )

    /// One of several that this program has on this machine, always the same for a name.
    static func current(named name: String) -> [UInt8] {
        [UInt8](SHA256.hash(data: self.current + [UInt8](name.utf8)).prefix(self.byteCount))
    }

    /// Reads the installation's ID, or makes one and tries to keep it.
    static func load(folder: String) -> [UInt8] {
        let file = folder + "/installation"
        if let kept = FileManager.default.contents(atPath: file), kept.count == self.byteCount {
            return [UInt8](kept)
        }
        let made = (0..<self.byteCount).map { _ in UInt8.random(in: .min ... .max) }
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Atomically, so that no process reads half of it. Of two that make one at once the later wins for the
        // future, and the other's stays good as long as that process runs.
        try? Data(made).write(to: URL(fileURLWithPath: file), options: .atomic)
        return made
    }

    /// The folder for what a program keeps; of the path that it was started by the last part counts.
    static func stateFolder(variables: [String: String], program: String) -> String {
        let name = program.split(separator: "/").last.map { "/\($0)" } ?? ""
        return UserFolder.state.path(variables: variables) + "/tidemark" + name
    }
}
