import Foundation
package import PostgreSQLEngine
import TestSupport

/// A primary and a standby, on local sockets, in folders that go with them.
///
/// SAFETY: one task of a test at a time uses it.
package final class PostgreSQLPair: @unchecked Sendable {
    /// Of both servers.
    package let folder: String
    private let binaries: String
    private var servers: [String: ChildProcess] = [:]
    /// The folders of the servers: the primary, and the standby if there is one.
    private var primary = "a"
    private var standby: String?

    /// The name under which a standby connects.
    private static let standbyName = "s1"
    private static let user = "tidemark"

    /// Starts both; `isSynchronous` says whether commits wait for the standby.
    package init(isSynchronous: Bool) throws {
        self.binaries = try PostgreSQLCluster.binaries()
        self.folder = "/tmp/tidemark-pg-\(getpid())-\(UInt32.random(in: .min ... .max))"
        try PostgreSQLCluster.shell(
            "mkdir -m 700 \(self.folder) && chown \(PostgreSQLCluster.owner) \(self.folder)"
        )
        let options = "-A trust -U \(Self.user) -E UTF8 --locale=C.UTF-8 --no-sync"
        try self.run("initdb -D \(self.data("a")) \(options)")
        try self.start("a")
        try self.addStandby()
        if isSynchronous { try self.demandStandby() }
    }

    deinit {
        for server in self.servers.values { server.signal(SIGKILL) }
        try? PostgreSQLCluster.shell("sleep 0.2; rm -rf \(self.folder)")
    }

    /// The database of both: whichever takes writes is the one.
    package var url: String {
        let sockets = ["a", "b"].map { "\(self.folder)/\($0)-socket" }.joined(separator: ",")
        return "postgresql:///postgres?host=\(sockets)&user=\(Self.user)"
    }

    package var target: ConnectionTarget {
        get throws { try ConnectionTarget(self.url) }
    }

    // MARK: What happens to them

    /// Kills the primary, and has the standby take its place.
    package func failOver() throws {
        self.servers.removeValue(forKey: self.primary)?.signal(SIGKILL)
        guard let standby else { throw PostgreSQLCluster.Failed(description: "no standby") }
        try self.run("pg_ctl -D \(self.data(standby)) promote -w")
        self.primary = standby
        self.standby = nil
    }

    /// Stops the standby, and lets it go on.
    package func stopStandby() {
        if let standby { self.servers.removeValue(forKey: standby)?.signal(SIGKILL) }
    }

    package func startStandby() throws {
        guard let standby else { return }
        try PostgreSQLCluster.shell("rm -f \(self.data(standby))/postmaster.pid")
        try self.start(standby)
    }

    /// Copies the primary, and has the copy follow it, in place of a primary that was killed.
    package func addStandby() throws {
        let name = self.primary == "a" ? "b" : "a"
        try PostgreSQLCluster.shell("rm -rf \(self.data(name))")
        let source =
            "host=\(self.folder)/\(self.primary)-socket user=\(Self.user) application_name=\(Self.standbyName)"
        try self.run(
            "pg_basebackup -d '\(source)' -D \(self.data(name)) -R -X stream -c fast --no-sync"
        )
        self.standby = name
        try self.start(name)
    }

    /// Has commits on the primary wait for the standby.
    package func demandStandby() throws {
        try self.administer("ALTER SYSTEM SET synchronous_standby_names = '\(Self.standbyName)'")
        try self.administer("SELECT pg_reload_conf()")
    }

    package func administer(_ text: String) throws {
        let socket = "\(self.folder)/\(self.primary)-socket"
        let connection = try PostgreSQLConnection(
            ConnectionTarget("postgresql:///postgres?host=\(socket)&user=\(Self.user)")
        )
        _ = try connection.query(SQL(text, reach: .store))
    }

    // MARK: Processes

    private func data(_ name: String) -> String { "\(self.folder)/\(name)" }

    private func run(_ program: String) throws {
        try PostgreSQLCluster.shell("cd / && \(PostgreSQLCluster.asOwner) \(self.binaries)/\(program)")
    }

    private func start(_ name: String) throws {
        let socket = "\(self.folder)/\(name)-socket"
        try PostgreSQLCluster.shell(
            "mkdir -p -m 700 \(socket) && chown \(PostgreSQLCluster.owner) \(socket)"
        )
        self.servers[name] = try PostgreSQLCluster.start(
            binaries: self.binaries,
            data: self.data(name),
            settings: [
                "listen_addresses=", "unix_socket_directories=\(socket)", "wal_level=replica",
                "max_wal_senders=5", "hot_standby=on", "fsync=off", "max_connections=100",
                "shared_buffers=32MB", "log_min_messages=fatal", "wal_receiver_status_interval=1",
            ]
        )
        let target = try ConnectionTarget("postgresql:///postgres?host=\(socket)&user=\(Self.user)")
        for _ in 0..<12_000 {
            if (try? PostgreSQLConnection(target)) != nil { return }
            usleep(50_000)
        }
        throw PostgreSQLCluster.Failed(
            description: "\(name) does not answer: \(self.servers[name]?.errorsSoFar ?? "not started")"
        )
    }
}
