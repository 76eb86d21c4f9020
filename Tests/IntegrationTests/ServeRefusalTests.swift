import Foundation
import NIOCore
import NIOPosix
import ServerCertificates
import TestSupport
import Testing

/// What keeps a server from starting: said by name, and before anything is made.
@Suite(.timeLimit(.minutes(10)))
struct ServeRefusalTests {
    private let directory: TemporaryDirectory
    private var data: String { self.directory.path + "/data" }

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = self.directory.path + "/" + name
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o600)
        return path
    }

    /// Expects that a server does not start, and that nothing is left of the attempt.
    private func refused(_ arguments: [String], exitCode: Int32, says words: String...) async throws {
        let outcome = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["serve", "--data", self.data] + arguments
        )
        #expect(outcome.exitCode == exitCode, "\(outcome.errors)")
        for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
        #expect(!FileManager.default.fileExists(atPath: self.data))
    }

    @Test
    func `an unusable certificate or key ends with 78, and is named`() async throws {
        let made = try ServerCertificates.make(hosts: [])
        let other = try ServerCertificates.make(hosts: [])
        let chain = try self.file("chain.pem", made.chainPEM)
        let key = try self.file("key.pem", made.keyPEM)
        func refused(_ chain: String, _ key: String, says words: String) async throws {
            let arguments = ["--listen", "127.0.0.1:0", "--tls-cert", chain, "--tls-key", key]
            try await self.refused(arguments, exitCode: 78, says: words)
        }
        try await refused("/nope.pem", key, says: "/nope.pem cannot be read: No such file or directory")
        try await refused(key, chain, says: "\(key) has no certificate. Are tls_cert and tls_key swapped?")
        try await refused(try self.file("text", "text"), key, says: "text has no PEM content")
        let foreign = try self.file("other.pem", other.keyPEM)
        try await refused(
            chain,
            foreign,
            says: "the key in \(foreign) does not belong to the first certificate in \(chain)"
        )
        chmod(key, 0o644)
        try await refused(chain, key, says: "(mode 644). Restrict it to its owner: chmod 600 \(key)")
    }

    @Test
    func `a port in use, an address of another machine and a host without one are refused by name`()
        async throws
    {
        let taken = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(taken.localAddress?.port)
        try await self.refused(
            ["--listen", "\(port)"],
            exitCode: 69,
            says: "another process listens there",
            "ss -ltnp 'sport = :\(port)'"
        )
        try await taken.close()
        try await self.refused(
            ["--listen", "192.0.2.1:7430"],
            exitCode: 69,
            says: "no interface of this machine"
        )
        try await self.refused(
            ["--listen", "host.invalid:7430"],
            exitCode: 69,
            says: "there is no host host.invalid"
        )
        try await self.refused(["--tls-host", "bad host!"], exitCode: 64, says: "'bad host!'")
    }

    /// Ports below 1024 are open to everybody in some containers.
    private static let reservesPorts: Bool = {
        let path = "/proc/sys/net/ipv4/ip_unprivileged_port_start"
        let first = (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(
            in: .whitespacesAndNewlines
        )
        return geteuid() == 0 && (first.flatMap { Int($0) } ?? 0) > 443
    }()

    @Test(.enabled(if: reservesPorts, "no port is reserved here, or nobody can become another user"))
    func `a reserved port asks for the capability`() async throws {
        chmod(self.directory.path, 0o777)
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/setpriv"),
            [
                "--reuid=65534", "--regid=65534", "--clear-groups", ChildProcess.tidemark.path, "serve",
                "--data",
                self.data, "--listen", "127.0.0.1:443",
            ]
        )
        #expect(outcome.exitCode == 77)
        #expect(outcome.errors.contains("CAP_NET_BIND_SERVICE"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: self.data))
    }

    @Test(arguments: [true, false])
    func `a folder that has lost its store is refused, and restore is named`(isEmpty: Bool) async throws {
        let server = try ServerProcess()
        try await server.start()
        #expect(await server.end(SIGTERM) == 0)
        let store = server.dataPath + "/tidemark.sqlite"
        for name in ["", "-wal", "-shm"] { unlink(store + name) }
        if isEmpty { #expect(FileManager.default.createFile(atPath: store, contents: nil)) }
        let outcome = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["serve", "--data", server.dataPath, "--listen", "127.0.0.1:0"]
        )
        #expect(outcome.exitCode == 65)
        #expect(
            outcome.errors.contains("tidemark.sqlite is \(isEmpty ? "empty" : "missing") in"),
            "\(outcome.errors)"
        )
        #expect(outcome.errors.contains("tidemark restore --from BACKUP"), "\(outcome.errors)")
        #expect((try? Data(contentsOf: URL(fileURLWithPath: store)))?.isEmpty ?? true)
        // What the text says to do for a new beginning.
        for name in ["reserve", "telemetry.ring", "tidemark.sqlite-synced"] {
            #expect(outcome.errors.contains(name))
            #expect(unlink(server.dataPath + "/" + name) == 0)
        }
        try await server.start()
        #expect(await server.end(SIGTERM) == 0)
    }

    @Test
    func `files of assets without a store are refused, and an empty folder for them is not`() async throws {
        let server = try ServerProcess()
        let assets = server.dataPath + "/assets"
        try FileManager.default.createDirectory(atPath: assets + "/01", withIntermediateDirectories: true)
        let outcome = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["serve", "--data", server.dataPath, "--listen", "127.0.0.1:0"]
        )
        #expect(outcome.exitCode == 65 && outcome.errors.contains("assets/"), "\(outcome.errors)")
        try FileManager.default.removeItem(atPath: assets + "/01")
        try await server.start()
        #expect(await server.end(SIGTERM) == 0)
    }

    @Test
    func `a folder with the files of others gets no store, and what to do is said`() async throws {
        try FileManager.default.createDirectory(atPath: self.data, withIntermediateDirectories: true)
        func write(_ name: String) throws {
            try Data("{}".utf8).write(to: URL(fileURLWithPath: self.data + "/" + name))
        }
        // Of a user, of a file system, and of this run.
        for name in [".pgpass", "tidemark.json"] { try write(name) }
        for name in ["lost+found", "tls"] {
            let path = self.data + "/" + name
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try write("thesis.odt")
        let config = self.data + "/tidemark.json"
        let metrics = "metrics_file=\(self.data)/metrics.prom"
        let refused = try await ChildProcess.run(
            ChildProcess.tidemark,
            [
                "serve", "--data", self.data, "--listen", "127.0.0.1:0", "--config", config, "--set", metrics,
            ]
        )
        #expect(refused.exitCode == 73, "\(refused.errors)")
        #expect(refused.errors.contains("files that are not Tidemark's: thesis.odt."), "\(refused.errors)")
        #expect(refused.errors.contains("--data \(self.data)/tidemark"))
        let names = try FileManager.default.contentsOfDirectory(atPath: self.data)
        #expect(Set(names) == [".pgpass", "tidemark.json", "lost+found", "tls", "thesis.odt"])

        try FileManager.default.removeItem(atPath: self.data + "/thesis.odt")
        let server = try await ServerUnderTest.start(data: self.data, "--config", config, "--set", metrics)
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
        // A folder that has a store is the server's, whatever else is in it.
        try write("thesis.odt")
        let again = try await ServerUnderTest.start(data: self.data, "--config", config, "--set", metrics)
        again.process.signal(SIGTERM)
        #expect(await again.process.outcome().exitCode == 0)
    }

    @Test(arguments: ["", "/data"])
    func `a file system that is mounted read-only is named, and no mode is blamed`(path: String) async throws
    {
        let place = self.directory.path + "/disk"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let mount = "mount -t tmpfs -o mode=700 tmpfs \(place) && mount -o remount,ro \(place)"
        let shell = URL(fileURLWithPath: "/bin/sh")
        guard try await ChildProcess.run(shell, ["-c", "unshare -Urm sh -c '\(mount)'"]).exitCode == 0 else {
            return print("ServeRefusalTests: nobody may mount here")
        }
        let outcome = try await ChildProcess.run(
            shell,
            [
                "-c", "exec unshare -Urm sh -c '\(mount) && exec \"$@\"' sh \"$@\"", "sh",
                ChildProcess.tidemark.path, "serve", "--data", place + path, "--listen", "127.0.0.1:0",
            ]
        )
        #expect(outcome.exitCode == 69)
        #expect(outcome.errors.contains("is mounted read-only"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("chmod"))
    }

    @Test
    func `another host at each start does not issue another certificate each time`() async throws {
        for (round, host) in ["a.example", "b.example", "a.example", "b.example"].enumerated() {
            let server = try await ServerUnderTest.start(data: self.data, "--tls-host", host)
            server.process.signal(SIGTERM)
            let log = await server.process.outcome().errors
            #expect(log.contains("renewed the certificate") == (round == 1), "round \(round): \(log)")
        }
    }
}
