import Administration
import Foundation
import Synchronization

/// The proof that all servers of a database have one folder of assets: each holds a file in it.
///
/// ```text
/// assets/servers/       0700
///     7                 the run of the server with this number, in hexadecimal; locked while it runs
/// ```
///
/// A server that starts looks for the files of all servers that may run, and for their locks, which a
/// copy of the folder does not have. Without one of them it has another folder: files uploaded through
/// the others would be missing here, and this server would remove the rows of files that are there.
///
/// A server that was killed has no lock, either. If no server has one, only time decides: a server that
/// runs sends a heartbeat every ten seconds, and one that was silent for half a minute counts as gone.
final class SharedAssets: Sendable {
    /// A run of a server.
    struct Server: Hashable {
        let number: Int64
        /// A machine and a folder.
        let name: String
        /// Another one at each start.
        let run: Int64
        /// The time until it loses its row unless it sends a heartbeat; not positive for one that is gone.
        var millisecondsLeft: Int64 = 0
        /// Whether it sent a heartbeat a short time ago.
        var mayRun = false
    }

    enum Verdict {
        case admitted
        case refused(CommandFailure)
        /// Whether the named server runs will be known within half a minute: ask again.
        case undecided(String)

        var refusal: CommandFailure? {
            guard case .refused(let failure) = self else { return nil }
            return failure
        }
    }

    private struct State {
        var verdict = Verdict.admitted
        /// The server's own file, which it has locked.
        var file: FileHandle?
        /// The time that was left to servers without locks on their files, by their runs.
        var unlocked: [Int64: Int64] = [:]
    }

    private let folder: DataFolder
    private let state = Mutex(State())

    init(_ folder: DataFolder) { self.folder = folder }

    /// The last decision.
    var verdict: Verdict { self.state.withLock { $0.verdict } }

    /// Decides whether this server has the folder of the others, and then leaves its own file there.
    func admits(_ server: Server, beside others: [Server]) -> Bool {
        self.state.withLock { state in
            state.verdict = self.decide(on: server, beside: others, &state)
            guard case .admitted = state.verdict else { return false }
            return true
        }
    }

    private func decide(on server: Server, beside others: [Server], _ state: inout State) -> Verdict {
        guard self.makeFolders() else {
            return self.isNotWritable(self.folder.assetsPath, "Check that the shared file system is mounted")
        }
        var unlocked: [Server] = []
        var isShared = false
        for other in others where other.millisecondsLeft > 0 {
            guard let file = self.file(of: other) else { return self.isElsewhere(other) }
            if Self.isLocked(file) { isShared = true } else if other.mayRun { unlocked.append(other) }
        }
        // One lock that is seen here is proof enough: all servers that run have that one's folder.
        for other in isShared ? [] : unlocked {
            let earlier = state.unlocked.updateValue(other.millisecondsLeft, forKey: other.run)
            // It has sent a heartbeat since.
            if let earlier, other.millisecondsLeft > earlier { return self.isElsewhere(other) }
            return .undecided(other.name)
        }
        guard let file = self.write(server) else {
            return self.isNotWritable(
                self.path(of: server),
                "Check that its file system has locks (flock) and room"
            )
        }
        state.file = file
        self.removeFiles(except: others + [server])
        return .admitted
    }

    private func isNotWritable(_ path: String, _ advice: String) -> Verdict {
        .refused(CommandFailure(.cannotCreate, "\(path) cannot be written. \(advice), and who owns it."))
    }

    private func isElsewhere(_ other: Server) -> Verdict {
        .refused(
            CommandFailure(
                .unavailable,
                "\(self.folder.assetsPath) is not the folder of assets that the server \(other.name) has. Give all "
                    + "servers one folder, and no copy of it: "
                    + "ln -s /SHARED/assets \(ShellText.quoted(self.folder.assetsPath)). If that server is gone "
                    + "for good, wait \((other.millisecondsLeft + 999) / 1_000) s. If no app stores assets: "
                    + "--set shared_assets=off"
            )
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

    /// The file that a run of a server has left; `nil` if there is none.
    private func file(of server: Server) -> FileHandle? {
        guard let file = FileHandle(forReadingAtPath: self.path(of: server)),
            let found = try? file.readToEnd(), found == Data(self.text(of: server).utf8)
        else { return nil }
        return file
    }

    private static func isLocked(_ file: FileHandle) -> Bool {
        flock(file.fileDescriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Writes the server's file, and locks it until the result is released.
    private func write(_ server: Server) -> FileHandle? {
        let path = self.path(of: server)
        let draft = path + ".unfinished"
        let descriptor = open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let isWritten = (try? file.write(contentsOf: Data(self.text(of: server).utf8))) != nil
        guard isWritten, flock(descriptor, LOCK_EX | LOCK_NB) == 0, rename(draft, path) == 0 else {
            return nil
        }
        return file
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
