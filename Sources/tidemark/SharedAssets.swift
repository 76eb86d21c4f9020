import Foundation
import Synchronization

/// The proof that all servers of a database have one folder of assets: each has a file in it.
///
/// ```text
/// assets/servers/       0700
///     7                 the run of the server with this number, in hexadecimal
/// ```
///
/// A server that begins looks for the files of all servers that may run. Without one of them it has
/// another folder: what is uploaded through the others would be missing here, and it would remove rows
/// whose files are there.
final class SharedAssets: Sendable {
    /// A run of a server.
    struct Server: Hashable {
        let number: Int64
        /// A machine and a folder.
        let name: String
        /// Another one at each start.
        let run: Int64
        /// The time that it may still run without being heard of; 0 for a server that is gone.
        var secondsLeft: Int64 = 0
    }

    private let folder: DataFolder
    private let refused = Mutex<CommandFailure?>(nil)

    init(_ folder: DataFolder) { self.folder = folder }

    /// The reason why the server was not admitted; `nil` if it was.
    var refusal: CommandFailure? { self.refused.withLock { $0 } }

    /// Decides whether this server has the folder of the others, and then leaves its own file there.
    func admits(_ server: Server, beside others: [Server]) -> Bool {
        let refusal = self.refusal(of: server, beside: others)
        self.refused.withLock { $0 = refusal }
        return refusal == nil
    }

    private func refusal(of server: Server, beside others: [Server]) -> CommandFailure? {
        guard self.makeFolders() else {
            return CommandFailure(
                .cannotCreate,
                "\(self.folder.assetsPath) cannot be written. Check that the shared file system is mounted, and who owns it."
            )
        }
        for other in others where other.secondsLeft > 0 && !self.has(other) {
            return self.isElsewhere(other)
        }
        guard self.write(server) else {
            return CommandFailure(
                .cannotCreate,
                "\(self.path(of: server)) cannot be written. Check who owns \(self.folder.assetsPath), and its disk."
            )
        }
        self.removeFiles(except: others + [server])
        return nil
    }

    private func isElsewhere(_ other: Server) -> CommandFailure {
        CommandFailure(
            .unavailable,
            "\(self.folder.assetsPath) is not the folder of assets that the server \(other.name) has. Give all servers "
                + "one folder: ln -s /SHARED/assets \(ShellText.quoted(self.folder.assetsPath)). If that server is gone "
                + "for good, wait \(other.secondsLeft) s. If no app stores assets: "
                + "--set shared_assets=off"
        )
    }

    // MARK: Files

    private var marksPath: String { self.folder.assetsPath + "/servers" }

    private func path(of server: Server) -> String { self.marksPath + "/\(server.number)" }

    private func text(of server: Server) -> String {
        String(UInt64(bitPattern: server.run), radix: 16) + "\n"
    }

    private func makeFolders() -> Bool {
        for path in [self.folder.assetsPath, self.marksPath] {
            // A link that leads nowhere exists and is none.
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { return false }
        }
        return access(self.marksPath, W_OK | X_OK) == 0
    }

    private func has(_ server: Server) -> Bool {
        guard let found = FileManager.default.contents(atPath: self.path(of: server)) else { return false }
        return found == Data(self.text(of: server).utf8)
    }

    private func write(_ server: Server) -> Bool {
        let path = self.path(of: server)
        let draft = path + ".unfinished"
        let isWritten = FileManager.default.createFile(
            atPath: draft,
            contents: Data(self.text(of: server).utf8),
            attributes: [.posixPermissions: 0o600]
        )
        return isWritten && rename(draft, path) == 0
    }

    /// Removes files of servers that have no row any more.
    private func removeFiles(except servers: [Server]) {
        let known = Set(servers.map { "\($0.number)" })
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.marksPath)) ?? []
        for name in names where !known.contains(name) {
            try? FileManager.default.removeItem(atPath: self.marksPath + "/" + name)
        }
    }
}
