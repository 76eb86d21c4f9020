import Foundation
package import PostgreSQLEngine
import TestSupport

/// A PostgreSQL server with a fault or a setting that no other test may meet.
///
/// It has a local socket and, if it is wanted, a port, in a folder that goes with it.
///
/// SAFETY: one task of a test at a time uses it.
package final class PostgreSQLInstance: @unchecked Sendable {
    /// The difference of the server from one without faults.
    package struct Options {
        package init() {}

        /// As in `postgresql.conf`.
        package var settings: [String] = []
        /// Arguments of `initdb`.
        package var creation = ""
        /// The size of a file system of its own, in which databases of the tablespace `small` are.
        ///
        /// Where nobody may mount one, no file may be larger than a sixth of it.
        package var smallDiskBytes: Int?
        /// The address to listen on besides the socket.
        package var address: String?
    }

    /// Of the socket, the data and what else a test puts there; all of it is the server's.
    package let folder: String
    package let port = FreePort.take()
    private let binaries: String
    private let options: Options
    private var server: ChildProcess?

    private static let user = "tidemark"

    /// Makes the server's files and starts it.
    ///
    /// `prepare` is called in between, with the folder of the data.
    package init(_ options: Options = Options(), prepare: (_ data: String) throws -> Void = { _ in }) throws {
        self.options = options
        self.binaries = try PostgreSQLCluster.binaries()
        self.folder = "/tmp/tidemark-pg-\(getpid())-\(UInt32.random(in: .min ... .max))"
        try PostgreSQLCluster.shell(
            "mkdir -m 700 \(self.folder) && chown \(PostgreSQLCluster.owner) \(self.folder)"
        )
        try self.run(
            "initdb -D \(self.data) -A trust -U \(Self.user) -E UTF8 --locale=C.UTF-8 --no-sync \(options.creation)"
        )
        if options.address != nil {
            try Self.shell("echo 'host all all 127.0.0.0/8 trust' >> \(self.data)/pg_hba.conf")
        }
        try prepare(self.data)
        try self.start()
        guard options.smallDiskBytes != nil else { return }
        try self.administer("CREATE TABLESPACE small LOCATION '\(self.small)/space'")
        try self.administer("CREATE DATABASE small TABLESPACE small")
    }

    deinit {
        self.server?.signal(SIGQUIT)
        try? PostgreSQLCluster.shell("sleep 0.2; rm -rf \(self.folder)")
    }

    package var data: String { self.folder + "/data" }

    // MARK: Connections

    /// The address of a database over the socket.
    package func target(_ database: String = "postgres") throws -> ConnectionTarget {
        try ConnectionTarget(
            "postgresql:///\(database)?host=\(self.folder)&port=\(self.port)&user=\(Self.user)"
        )
    }

    /// The URL of a database over the network.
    package func url(host: String, _ parameters: String = "") -> String {
        "postgresql://\(Self.user)@\(host):\(self.port)/postgres\(parameters)"
    }

    package func administer(_ text: String) throws {
        _ = try PostgreSQLConnection(self.target()).query(SQL(text, reach: .store))
    }

    // MARK: The process

    /// Runs a program of PostgreSQL as the owner of the files.
    package func run(_ program: String) throws {
        try self.runAsOwner("\(self.binaries)/\(program)")
    }

    package func runAsOwner(_ command: String) throws {
        try PostgreSQLCluster.shell("cd / && \(PostgreSQLCluster.asOwner) \(command)")
    }

    package static func shell(_ command: String) throws { try PostgreSQLCluster.shell(command) }

    package func start() throws {
        self.server = try PostgreSQLCluster.start(
            binaries: self.binaries,
            data: self.data,
            settings: [
                "listen_addresses=\(self.options.address ?? "")", "port=\(self.port)",
                "unix_socket_directories=\(self.folder)", "fsync=off", "max_connections=60",
                "shared_buffers=32MB", "log_min_messages=fatal",
            ] + self.options.settings,
            launcher: self.options.smallDiskBytes.map { self.smallDisk(bytes: $0) } ?? []
        )
        let target = try self.target()
        for _ in 0..<12_000 {
            if (try? PostgreSQLConnection(target)) != nil { return }
            usleep(50_000)
        }
        throw PostgreSQLCluster.Failed(
            description: "the server does not answer: \(self.server?.errorsSoFar ?? "not started")"
        )
    }

    /// Ends the server, after it has written all that it knows.
    package func stop() async throws {
        self.server?.signal(SIGINT)
        _ = await self.server?.outcome()
        self.server = nil
    }

    /// Kills the server with all its processes, so that nothing is left of what they had in memory.
    package func kill() async throws {
        guard let server else { return }
        let path = "/proc/\(server.processID)/task/\(server.processID)/children"
        let children = try String(contentsOfFile: path, encoding: .utf8).split(separator: " ")
        server.signal(SIGKILL)
        for child in children.compactMap({ Int32($0) }) { _ = Foundation.kill(child, SIGKILL) }
        _ = await server.outcome()
        self.server = nil
    }

    // MARK: The small disk

    private var small: String { self.folder + "/small" }

    /// Files that a test removes when there is to be room, and their part of the disk.
    package enum Filler: String {
        case small
        case large

        fileprivate func bytes(of disk: Int) -> Int { self == .small ? disk / 32 : disk / 4 }
    }

    /// Whether the owner of the files may mount a disk.
    package static let mayMount =
        (try? shell("\(PostgreSQLCluster.asOwner) unshare -Urm mount -t tmpfs tmpfs /mnt")) != nil

    /// A launcher that gives the server a disk, which it alone sees.
    ///
    /// The user who mounts is root in a name space of users, where PostgreSQL does not start. So the server
    /// gets another one.
    private func smallDisk(bytes: Int) -> [String] {
        let space = "mkdir -p \(self.small)/space"
        guard Self.mayMount else {
            // No multiple of a page. PostgreSQL 15 takes a page that is cut short for a full disk.
            let limit = "--fsize=\(bytes / 6 + 4_096):unlimited"
            return ["/bin/sh", "-c", "\(space) && exec prlimit \(limit) \"$@\"", "sh"]
        }
        let fillers = [Filler.small, .large].map { filler in
            "head -c \(filler.bytes(of: bytes)) /dev/zero > \(self.small)/\(filler.rawValue)"
        }
        let mount = "mount -t tmpfs -o mode=700,size=\(bytes) tmpfs \(self.small)"
        let server = #"exec unshare -U --map-user=1000 --map-group=1000 setpriv --pdeathsig QUIT "$@""#
        let steps = ["mkdir -p \(self.small)", mount, space] + fillers + [server]
        return ["/usr/bin/unshare", "-Urm", "/bin/sh", "-c", steps.joined(separator: " && "), "sh"]
    }

    /// Removes a file of a mounted disk; without one the last removal lifts the limit of files.
    package func remove(_ filler: Filler) throws {
        guard let server else { return }
        if Self.mayMount {
            let root = "/proc/\(server.processID)/root"
            try FileManager.default.removeItem(atPath: root + "\(self.small)/\(filler.rawValue)")
        } else if filler == .large {
            let sessions = "/proc/\(server.processID)/task/\(server.processID)/children"
            let lift = "\(PostgreSQLCluster.asOwner) prlimit --fsize=unlimited --pid"
            try Self.shell("for p in \(server.processID) $(cat \(sessions)); do \(lift) $p; done")
        }
    }
}
