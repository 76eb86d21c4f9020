import Administration
import ArgumentParser
import Console
import Foundation
import RecordStore
import StorageContract
import Synchronization

/// The command `tidemark console`.
struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Show the data folder in a browser on this machine.",
        discussion: """
            Serves pages on a loopback address until SIGINT or SIGTERM, beside a \
            server or without one, and opens the browser with a link. The link works \
            once, for five minutes; the browser keeps a session for it. Records are saved \
            through the server, as a service that acts for the user you choose. Changes \
            from pages are written down in console.log in the folder.

            A browser with the session reads and changes everything, like the user who runs \
            the command. From another machine, use the printed ssh command there, and \
            then the link.

              tidemark console
              tidemark console --no-open --port 8443 --data /var/lib/tidemark
              tidemark console --socket /run/user/1000/console.sock
            """
    )

    @OptionGroup var data: DataOption

    @Option(help: ArgumentHelp("The port of 127.0.0.1; 0 is any free one.", valueName: "port"))
    var port = 0

    @Option(
        help: ArgumentHelp(
            "Listen on a Unix socket instead, for ssh -L from another machine.",
            valueName: "path"
        ),
        completion: .file()
    )
    var socket: String?

    @Flag(name: .customLong("no-open"), help: "Print the link, and open no browser.")
    var staysClosed = false

    func validate() throws {
        guard (0...65_535).contains(self.port) else {
            throw ValidationError("--port is \(self.port): say 0 to 65535.")
        }
        if self.socket != nil, self.port != 0 {
            throw ValidationError("--port and --socket exclude each other.")
        }
    }

    func run() async throws {
        let folder = self.data.folder
        let store = try await EngineOpening.open(folder, isReader: true)
        let editing = ServerEditing(folder: folder)
        let end: ConsoleEnd
        do {
            let console = Console(store, configuration: self.consoleConfiguration(folder, editing))
            let opens = !self.staysClosed && self.socket == nil
            let socket = self.socketPath
            let file = OpeningFile()
            defer { file.remove() }
            end = try await console.run { running in
                let link = Self.announce(running, socket: socket)
                if opens { file.made(BrowserOpening.open(link)) }
            }
            await editing.end()
            await store.shutdown()
            self.removeSocket()
        } catch let failure as ConsoleFailure {
            await store.shutdown()
            throw self.explained(failure)
        }
        guard end == .stopped else {
            throw CommandFailure(
                .noPermission,
                "somebody guessed at the link of the console, which has ended. Find out who sends requests to it, and "
                    + "start it again, with --socket if other users of the machine are not trusted."
            )
        }
    }

    /// Absolute, because it is printed for `ssh`.
    private var socketPath: String? {
        self.socket.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
    }

    private func removeSocket() {
        if let path = self.socketPath { unlink(path) }
    }

    private func consoleConfiguration(
        _ folder: DataFolder,
        _ editing: ServerEditing
    ) -> ConsoleConfiguration {
        let files = AssetFiles(in: folder.assetsPath)
        var configuration = ConsoleConfiguration(
            folder: folder.path,
            version: Tidemark.version,
            now: SystemTime.milliseconds,
            serverState: {
                guard DataFolderLock.isHeld(in: folder), let service = LockHolder(in: folder)?.service else {
                    return .notServing
                }
                return .serving(address: service.listen.description)
            },
            assetPath: { folder.assetsPath + "/" + files.name(of: $0.number) }
        )
        configuration.save = { await editing.save($0) }
        configuration.telemetry = { span in
            .read(span, of: folder, nowMilliseconds: SystemTime.milliseconds())
        }
        configuration.quotas = { TelemetryPlots.quotas(of: folder) }
        configuration.log = { LockHolder(in: folder)?.service?.log ?? .unknown }
        configuration.backups = BackupDesk(list: { BackupListing(folder: folder).known }) {
            path,
            isStopping,
            progress in
            ConsoleBackup(folder: folder).make(
                path,
                watch: CopyWatch(isStopping: isStopping, progress: progress)
            )
        }
        let changes = OperatorChanges(folder: folder, editing: editing)
        configuration.change = { await changes.make($0) }
        let importing = ConsoleImport(folder: folder)
        configuration.importRecords = { await importing.run($0) }
        configuration.audit = ConsoleAudit(
            path: folder.consoleLogPath,
            person: ProcessInfo.processInfo.userName,
            now: SystemTime.milliseconds,
            // A change by hand should leave a trace also where the operator looks.
            echo: { Terminal.writeError("tidemark: \($0)\n") }
        )
        configuration.address = self.socketPath.map { .socket(path: $0) } ?? .loopback(port: self.port)
        return configuration
    }

    // MARK: Words

    /// The port that the printed ssh command takes on the other machine.
    private static let tunnelPort = 8443

    /// Prints where the console is, and returns the link.
    private static func announce(_ running: Console.Running, socket: String?) -> String {
        let host = ProcessInfo.processInfo.hostName
        let link = "http://\(running.host):\(running.port ?? Self.tunnelPort)\(running.linkPath)"
        guard let port = running.port else {
            Terminal.write(
                """
                Console on the socket \(socket ?? "").
                On the machine of the browser:  ssh -L \(Self.tunnelPort):\(ShellText.quoted(socket ?? "")) \(host)
                Then open, once within 5 min:   \(link)

                """
            )
            return link
        }
        Terminal.write(
            """
            Console on 127.0.0.1:\(port).
            Open, once within 5 min:        \(link)
            From another machine, first:    ssh -L \(port):127.0.0.1:\(port) \(host)

            """
        )
        return link
    }

    private func explained(_ failure: ConsoleFailure) -> CommandFailure {
        switch failure {
        case .addressInUse:
            CommandFailure(
                .unavailable,
                "another process listens on port \(self.port), which ss -ltnp names. Choose another with --port, or none."
            )
        case .notASocket:
            CommandFailure(
                .cannotCreate,
                "\(self.socketPath ?? "") is a file of another kind. Move it away, or name another path with --socket."
            )
        case .refused(let code):
            CommandFailure(
                .cannotCreate,
                "the console cannot listen: \(String(cString: strerror(code))). Choose another address with --port or --socket."
            )
        }
    }
}

/// The desktop's own way to open a link.
private enum BrowserOpening {
    /// Opens a link if there is a desktop; otherwise the link that was printed is enough.
    ///
    /// The browser gets a file that leads to the link. Other users of the machine see the arguments
    /// of a program, and the link would be among them.
    ///
    /// - Returns: The path of the file, to be removed; `nil` if none was made.
    static func open(_ link: String) -> String? {
        #if os(macOS)
        let program = "/usr/bin/open"
        #else
        let environment = ProcessInfo.processInfo.environment
        guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else { return nil }
        let program = "/usr/bin/xdg-open"
        #endif
        let path = NSTemporaryDirectory() + "/tidemark-console-\(UUID().uuidString).html"
        let page = "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=\(link)\">\n"
        // The file mask of the command leaves it to its owner.
        guard FileManager.default.createFile(atPath: path, contents: Data(page.utf8)) else { return nil }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch {
            Terminal.writeError("tidemark: no browser can be opened with \(program): use the link.\n")
        }
        return path
    }
}

/// A file that goes with the command; `nil` until there is one.
private final class OpeningFile: Sendable {
    private let path = Mutex<String?>(nil)

    func made(_ path: String?) { self.path.withLock { $0 = path } }

    func remove() { if let path = self.path.withLock({ $0 }) { unlink(path) } }
}
