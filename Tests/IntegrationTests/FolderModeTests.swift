import Foundation
import TestSupport
import Testing

/// What other users may do with a data folder: refused, or taken from them.
@Suite(.timeLimit(.minutes(10)))
struct FolderModeTests {
    private let directory: TemporaryDirectory
    private var data: String { self.directory.path + "/data" }

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    private func mode(_ path: String) throws -> mode_t {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? NSNumber).uint32Value
    }

    /// Starts a server and stops it again; returns its log.
    private func serve() async throws -> String {
        let server = try await ServerUnderTest.start(data: self.data)
        server.process.signal(SIGTERM)
        let outcome = await server.process.outcome()
        #expect(outcome.exitCode == 0)
        return outcome.errors
    }

    private func run(_ command: String) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            command.split(separator: " ").map(String.init),
            environment: ["TIDEMARK_DATA": self.data]
        )
    }

    @Test(arguments: [0o777, 0o1777, 0o770, 0o720] as [mode_t])
    func `a data folder that others may write to is refused by every command that uses it`(
        mode: mode_t
    ) async throws {
        try await ServerProcess.makeStore(in: self.data)
        chmod(self.data, mode)
        for command in [
            "serve --listen 127.0.0.1:0", "container list", "backup --to \(self.directory.path)/b",
        ] {
            let outcome = try await self.run(command)
            #expect(outcome.exitCode == 78, "\(command): \(outcome.errors)")
            #expect(outcome.errors.contains("chmod 700 \(self.data)"), "\(outcome.errors)")
        }
        #expect(try self.mode(self.data) == mode)
    }

    @Test func `an empty folder that others may write to becomes the server's own`() async throws {
        try FileManager.default.createDirectory(atPath: self.data, withIntermediateDirectories: true)
        chmod(self.data, 0o777)
        #expect(try await self.serve().contains("removed other users' access to the data folder"))
        #expect(try self.mode(self.data) == 0o700)
        #expect(try await !self.serve().contains("removed other users' access"))
    }

    @Test func `what others may read or write in the folder is taken from them, and told once`() async throws
    {
        _ = try await self.serve()
        let files = ["tidemark.sqlite", "lock", "reserve"].map { self.data + "/" + $0 }
        for path in files { chmod(path, 0o666) }
        chmod(self.data + "/assets", 0o755)
        chmod(self.data, 0o755)
        let log = try await self.serve()
        let line = log.split(separator: "\n").filter {
            $0.contains("removed other users' access to the data folder")
        }
        #expect(line.count == 1 && files.allSatisfy { line[0].contains($0) }, "\(log)")
        for path in files { #expect(try self.mode(path) == 0o600) }
        #expect(try self.mode(self.data + "/assets") == 0o700)
        // It may be an operator's for other things too.
        #expect(try self.mode(self.data) == 0o755)
    }

    @Test func `keys of the private authority that others may read are narrowed, and told once`() async throws
    {
        _ = try await self.serve()
        let keys = ["ca-key.pem", "server-key.pem"].map { self.data + "/tls/" + $0 }
        for key in keys { chmod(key, 0o644) }
        chmod(self.data + "/tls/ca.pem", 0o644)
        let log = try await self.serve()
        #expect(log.contains("removed other users' access to the keys"), "\(log)")
        for key in keys { #expect(try log.contains(key) && self.mode(key) == 0o600) }
        #expect(try self.mode(self.data + "/tls/ca.pem") == 0o644)
        #expect(try await !self.serve().contains("removed other users' access"))
    }

    @Test func `a backup is its owner's alone, and one that others may change is not restored`() async throws
    {
        try await ServerProcess.makeStore(in: self.data)
        let backup = self.directory.path + "/backup"
        try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: true)
        chmod(backup, 0o777)
        let made = try await self.run("backup --to \(backup)")
        #expect(made.exitCode == 0, "\(made.errors)")
        #expect(try self.mode(backup) == 0o700)
        for name in try FileManager.default.subpathsOfDirectory(atPath: backup) {
            #expect(try self.mode(backup + "/" + name) & 0o077 == 0, "\(name)")
        }
        let target = self.directory.path + "/restored"
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        for path in [backup, backup + "/backup.json", backup + "/tidemark.sqlite"] {
            let mode = try self.mode(path)
            chmod(path, mode | 0o002)
            let refused = try await self.run("restore --from \(backup) --data \(target)")
            #expect(refused.exitCode == 78, "\(refused.errors)")
            #expect(refused.errors.contains("chmod go-w \(path)"), "\(refused.errors)")
            chmod(path, mode)
        }
        chmod(target, 0o777)
        let restored = try await self.run("restore --from \(backup) --data \(target)")
        #expect(restored.exitCode == 0, "\(restored.errors)")
        #expect(try self.mode(target) == 0o700)
    }

    @Test func `a folder with other things in it keeps the mode that its operator gave it`() async throws {
        _ = try await self.serve()
        try "a guest".write(toFile: self.data + "/hosts", atomically: true, encoding: .utf8)
        chmod(self.data, 0o755)
        for _ in 0..<2 { #expect(try await !self.serve().contains("removed other users' access")) }
        #expect(try self.mode(self.data) == 0o755)
    }

    @Test(arguments: ["link", "dangling link", "pipe"])
    func `a lock that is no file of the server's is not written to`(kind: String) async throws {
        try await ServerProcess.makeStore(in: self.data)
        let lock = self.data + "/lock"
        let victim = self.directory.path + "/victim"
        if kind == "link" { try "precious".write(toFile: victim, atomically: true, encoding: .utf8) }
        try FileManager.default.removeItem(atPath: lock)
        if kind == "pipe" {
            try #require(mkfifo(lock, 0o600) == 0)
        } else {
            try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: victim)
        }
        let outcome = try await self.run("serve --listen 127.0.0.1:0")
        #expect(outcome.exitCode == 78, "\(outcome.errors)")
        #expect(outcome.errors.contains("rm \(lock)"), "\(outcome.errors)")
        #expect((try? String(contentsOfFile: victim, encoding: .utf8)) == (kind == "link" ? "precious" : nil))
        let status = try await self.run("status")
        #expect(status.exitCode == 3, "\(status.output)")
    }

    @Test(arguments: ["link", "pipe"])
    func `a reserve that is no file of the server's is left alone, and the log says so`(
        kind: String
    ) async throws {
        try await ServerProcess.makeStore(in: self.data)
        let reserve = self.data + "/reserve"
        let victim = self.directory.path + "/victim"
        try "precious".write(toFile: victim, atomically: true, encoding: .utf8)
        try FileManager.default.removeItem(atPath: reserve)
        if kind == "pipe" {
            try #require(mkfifo(reserve, 0o600) == 0)
        } else {
            try FileManager.default.createSymbolicLink(atPath: reserve, withDestinationPath: victim)
        }
        #expect(try await self.serve().contains("cannot reserve room for deletes on a full disk"))
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
    }
}
