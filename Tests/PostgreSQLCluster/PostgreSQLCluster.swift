import Foundation
package import PostgreSQLEngine
import Synchronization
import TestSupport

/// A PostgreSQL server of its own for one run of tests, on a local socket, in a folder that goes with it.
///
/// The server ends with the process that started it, however that ends. Nothing of it survives a crash of
/// the machine, and nothing has to.
///
/// SAFETY: the variables are read and written only while the lock is held.
package final class PostgreSQLCluster: @unchecked Sendable {
    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }

    private static let started = Result { try PostgreSQLCluster() }

    /// The server of this process, started by whoever asks first.
    ///
    /// It is never skipped: without the packages that `Scripts/test` installs a test fails.
    package static func running() throws -> PostgreSQLCluster { try self.started.get() }

    /// The folder of the socket.
    package let folder: String
    private let lock = NSLock()
    private var server: ChildProcess?
    private var administration: PostgreSQLConnection?
    /// Names of databases by the folder that each stands for.
    private var databases: [String: String] = [:]
    private var databasesCount = 0

    private static let template = "tidemark_template"
    /// Databases whose folder is gone are dropped when there are so many, as each drop is a checkpoint.
    private static let goneMax = 20
    /// A user who needs a password, and that password.
    package static let guardedUser = (name: "guarded", password: "correct horse")

    private init() throws {
        Self.removeStale()
        self.folder = "/tmp/tidemark-pg-\(getpid())"
        let data = self.folder + "/data"
        let binaries = try Self.binaries()
        try Self.shell(
            "rm -rf \(self.folder) && mkdir -m 700 \(self.folder) && chown \(Self.owner) \(self.folder)"
        )
        try Self.shell(
            "cd / && \(Self.asOwner) \(binaries)/initdb -D \(data) -A trust -U tidemark -E UTF8 --locale=C.UTF-8 --no-sync --data-checksums"
        )
        try Self.shell(
            "sed -i '1i local all \(Self.guardedUser.name) scram-sha-256' \(data)/pg_hba.conf"
        )
        self.start(binaries: binaries, data: data)
        atexit {
            if let cluster = try? PostgreSQLCluster.started.get() { cluster.stop() }
        }
        let connection = try self.connect()
        // The statements of a pipeline share a transaction, and a database is made in none.
        _ = try connection.query(Self.sql("CREATE DATABASE \(Self.template)"))
        _ = try PostgreSQLEngine.prepare(self.target(database: Self.template))
        _ = try connection.query(
            Self.sql("CREATE ROLE \(Self.guardedUser.name) LOGIN PASSWORD '\(Self.guardedUser.password)'")
        )
        self.administration = connection
    }

    /// PostgreSQL's programs refuse to run as root.
    static let owner = geteuid() == 0 ? "postgres" : "\(geteuid())"
    static let asOwner = geteuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --init-groups" : ""

    /// The folder of the programs of the version that this run of tests has chosen, or the one that
    /// `TIDEMARK_POSTGRES_BIN` names.
    static func binaries() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let folder = environment["TIDEMARK_POSTGRES_BIN"] { return folder }
        return try PostgreSQLVersions().chosen(environment)
    }

    private func start(binaries: String, data: String) {
        let settings = [
            "listen_addresses=", "unix_socket_directories=\(self.folder)", "fsync=off",
            "full_page_writes=off",
            "max_connections=400", "shared_buffers=64MB", "wal_level=minimal", "max_wal_senders=0",
            "autovacuum=off", "log_min_messages=fatal",
        ]
        self.server = try? Self.start(binaries: binaries, data: data, settings: settings)
    }

    /// Starts a server on a thread that lives as long as the process: the kernel ends a child when the
    /// thread ends that made it.
    ///
    /// `launcher` is a program with its arguments that starts the server.
    static func start(
        binaries: String,
        data: String,
        settings: [String],
        launcher: [String] = []
    ) throws -> ChildProcess {
        let user = geteuid() == 0 ? ["--reuid=postgres", "--regid=postgres", "--init-groups"] : []
        let arguments =
            user + ["--pdeathsig", "QUIT"] + launcher + ["\(binaries)/postgres", "-D", data]
            + settings.flatMap { ["-c", $0] }
        let started = Mutex<Result<ChildProcess, any Error>?>(nil)
        let isStarted = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let result = Result {
                try ChildProcess(URL(fileURLWithPath: "/usr/bin/setpriv"), arguments)
            }
            started.withLock { $0 = result }
            isStarted.signal()
            while true { sleep(1_000) }
        }
        isStarted.wait()
        guard let result = started.withLock({ $0 }) else { throw Failed(description: "not started") }
        return try result.get()
    }

    private func connect() throws -> PostgreSQLConnection {
        let target = try self.target(database: "postgres")
        for _ in 0..<12_000 {
            if let connection = try? PostgreSQLConnection(target) { return connection }
            usleep(50_000)
        }
        throw Failed(description: "the server does not answer: \(self.server?.errorsSoFar ?? "not started")")
    }

    private func stop() {
        self.server?.signal(SIGQUIT)
        try? Self.shell("sleep 0.2; rm -rf \(self.folder)")
    }

    /// Removes folders of processes that are gone.
    private static func removeStale() {
        let prefix = "tidemark-pg-"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/tmp")) ?? []
        for name in names where name.hasPrefix(prefix) {
            let number = name.dropFirst(prefix.count).prefix { $0 != "-" }
            guard let process = Int32(number), kill(process, 0) != 0 else { continue }
            try? FileManager.default.removeItem(atPath: "/tmp/\(name)")
        }
    }

    static func shell(_ command: String) throws {
        // SAFETY: the stream is read by this thread alone, and closed before the call returns.
        guard let stream = popen("{ \(command); } 2>&1", "r") else {
            throw Failed(description: "cannot run \(command)")
        }
        var output = ""
        while let line = readLine(from: stream) { output += line }
        guard pclose(stream) == 0 else { throw Failed(description: "\(command): \(output)") }
    }

    // SAFETY: `getline` allocates the line, which is freed here.
    private static func readLine(from stream: UnsafeMutablePointer<FILE>) -> String? {
        var line: UnsafeMutablePointer<CChar>?
        var count = 0
        defer { free(line) }
        guard getline(&line, &count, stream) > 0, let line else { return nil }
        return String(cString: line)
    }

    private static func sql(_ text: String) -> SQL { SQL(text, reach: .store) }

    // MARK: Databases

    package func target(database: String, user: String = "tidemark") throws -> ConnectionTarget {
        try ConnectionTarget(self.url(database: database, user: user))
    }

    package func url(database: String, user: String = "tidemark", password: String? = nil) -> String {
        let secret = password.map { "&password=\($0.replacing(" ", with: "%20"))" } ?? ""
        return "postgresql:///\(database)?host=\(self.folder)&user=\(user)\(secret)"
    }

    /// The database that stands for a folder, with the tables of a store; a copy of a template is made for
    /// a folder that has none.
    package func target(standingFor folder: String) throws -> ConnectionTarget {
        let name = try self.lock.withLock {
            if let known = self.databases[folder] { return known }
            try self.dropGone()
            let name = try self.make(from: Self.template)
            self.databases[folder] = name
            return name
        }
        return try self.target(database: name)
    }

    /// The name of a new database without tables.
    package func emptyDatabase(_ options: String = "") throws -> String {
        try self.lock.withLock { try self.make(from: "template0", options) }
    }

    /// Executes a statement of an administrator.
    package func administer(_ text: String) throws {
        _ = try self.lock.withLock { try self.administration?.query(Self.sql(text)) }
    }

    /// Executes statements in a database with `psql`: those with words that no statement of ours may use.
    package func execute(script: String, in database: String) throws {
        let file = "\(self.folder)/script-\(UInt32.random(in: .min ... .max)).sql"
        try script.write(toFile: file, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        try Self.shell(
            "\(Self.binaries())/psql -X -q -v ON_ERROR_STOP=1 -h \(self.folder) -U tidemark -d \(database) -f \(file)"
        )
    }

    /// Executes a statement in a database, and returns the texts of its first row.
    @discardableResult
    package func row(_ text: String, in database: String) throws -> [String] {
        let rows = try PostgreSQLConnection(self.target(database: database)).query(Self.sql(text))
        return rows.isEmpty ? [] : (0..<rows.columnsCount).map { rows.text(0, $0) }
    }

    private func make(from template: String, _ options: String = "") throws -> String {
        self.databasesCount += 1
        let name = "tidemark_\(self.databasesCount)"
        _ = try self.administration?.query(
            Self.sql("CREATE DATABASE \(name) TEMPLATE \(template) STRATEGY wal_log \(options)")
        )
        return name
    }

    private func dropGone() throws {
        let gone = self.databases.filter { !FileManager.default.fileExists(atPath: $0.key) }
        guard gone.count >= Self.goneMax else { return }
        for (folder, name) in gone {
            _ = try self.administration?.query(Self.sql("DROP DATABASE \(name) WITH (FORCE)"))
            self.databases[folder] = nil
        }
    }
}
