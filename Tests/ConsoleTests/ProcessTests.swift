import Foundation
import TestSupport
import Testing

/// `tidemark console` as a process, beside a server and without one.
@Suite(.timeLimit(.minutes(10)))
struct ProcessTests {
    private static let container = "iCloud.org.example.app"

    /// Starts a console on a store, and returns it with what it printed.
    private func start(
        _ server: ServerProcess,
        _ arguments: [String]
    ) async throws -> (process: ChildProcess, text: String) {
        let process = try ChildProcess(
            ChildProcess.tidemark,
            ["console", "--no-open", "--data", server.dataPath] + arguments
        )
        let text = await process.find { $0.contains("ssh -L") && $0.contains("/open/") ? $0 : nil }
        return (process, try #require(text, "\(process.errorsSoFar)"))
    }

    private func browser(_ text: String) async throws -> ConsoleClient {
        var (client, linkPath) = try #require(ConsoleClient.printed(text))
        #expect(try await client.open(linkPath).status == 200)
        return client
    }

    @Test
    func `a console beside a server shows what the server saves, and ends with a signal`() async throws {
        let server = try ServerProcess()
        try await server.administer(["container", "create", Self.container])
        try await server.administer(["user", "add", "alice", "--container", Self.container])
        try await server.start()
        let (process, text) = try await self.start(server, [])
        let client = try await self.browser(text)
        let start = try await client.get("/").body
        #expect(start.contains("A server serves it at 127.0.0.1:\(server.port)."))
        let file = server.folder.path + "/record.json"
        try #"{"recordName":"first","recordType":"Note","fields":{"title":{"value":"Hello"}}}"#
            .write(toFile: file, atomically: false, encoding: .utf8)
        try await server.administer(
            ["records", "save", "--as", "alice", "--container", Self.container, "--file", file]
        )
        let place = "/c/\(Self.container)/development/records?database=private&user=alice&type=Note"
        #expect(try await client.get(place).body.contains(">Hello<"))
        // A page that follows changes does not keep the console from ending.
        let changes = try await client.get(
            "/c/\(Self.container)/development/records/changes?database=private&user=alice&from=now"
        ).body
        let events = try #require(changes.firstMatch(of: /data-events="([^"]+)"/)).1
        let peer = try await client.peer("GET", events.unescaped)
        _ = await peer.text { $0.contains(": changes") }
        process.signal(SIGTERM)
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors == "")
        #expect(await server.end(SIGTERM) == 0)
    }

    @Test
    func `a console works while no server runs, and changes no file`() async throws {
        let server = try ServerProcess()
        try await server.administer(["container", "create", Self.container])
        func contents() throws -> [String: Date] {
            let names = try FileManager.default.contentsOfDirectory(atPath: server.dataPath)
            return try Dictionary(
                uniqueKeysWithValues: names.filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") }.map {
                    name in
                    let attributes = try FileManager.default.attributesOfItem(
                        atPath: server.dataPath + "/" + name
                    )
                    return (name, attributes[.modificationDate] as? Date ?? Date())
                }
            )
        }
        let before = try contents()
        let (process, text) = try await self.start(server, [])
        let client = try await self.browser(text)
        #expect(try await client.get("/").body.contains("No server serves it now."))
        #expect(try await client.get("/c/\(Self.container)/development/usage").status == 200)
        process.signal(SIGINT)
        #expect(await process.outcome().exitCode == 0)
        #expect(try contents() == before)
        // The next server finds the folder as it was.
        try await server.start()
        #expect(await server.end(SIGTERM) == 0)
    }

    @Test
    func `a socket is its owner's alone, and goes with the console`() async throws {
        let server = try ServerProcess()
        try await server.administer(["container", "create", Self.container])
        let path = server.folder.path + "/console.sock"
        let (process, text) = try await self.start(server, ["--socket", path])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect((mode?.intValue ?? 0) & 0o077 == 0)
        #expect(text.contains("ssh -L 8443:\(path) "))
        let (tunnel, linkPath) = try #require(ConsoleClient.printed(text))
        #expect(tunnel.host.hasSuffix(":8443"))
        var client = ConsoleClient(socket: path, host: tunnel.host)
        #expect(try await client.open(linkPath).status == 200)
        #expect(try await client.get("/").status == 200)
        process.signal(SIGTERM)
        #expect(await process.outcome().exitCode == 0)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test
    func `wrong starts say what to do`() async throws {
        let server = try ServerProcess()
        try await server.administer(["container", "create", Self.container])
        let (process, text) = try await self.start(server, [])
        let port = try #require(text.firstMatch(of: /Console on 127\.0\.0\.1:(\d+)/)).1
        let file = server.folder.path + "/file"
        try "x".write(toFile: file, atomically: false, encoding: .utf8)
        let rows: [([String], Int32, String)] = [
            (
                ["--data", server.dataPath, "--port", String(port)], 69,
                "another process listens on port \(port)"
            ),
            (["--data", server.dataPath, "--socket", file], 73, "is a file of another kind"),
            (["--data", server.dataPath, "--port", "70000"], 64, "--port is 70000"),
            (["--data", server.dataPath, "--port", "1", "--socket", "x"], 64, "exclude each other"),
            (["--data", server.folder.path + "/none"], 66, "is not a data folder"),
        ]
        for (arguments, code, text) in rows {
            let outcome = try await ChildProcess.run(
                ChildProcess.tidemark,
                ["console", "--no-open"] + arguments
            )
            #expect(outcome.exitCode == code, "\(arguments)")
            #expect(outcome.errors.contains(text), "\(outcome.errors)")
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "x")
        process.signal(SIGTERM)
        _ = await process.outcome()
    }

    @Test
    func `guesses at the link end the command with a code and a text`() async throws {
        let server = try ServerProcess()
        try await server.administer(["container", "create", Self.container])
        let (process, text) = try await self.start(server, [])
        let client = try #require(ConsoleClient.printed(text)).client
        for number in 0..<10 { _ = try await client.get("/open/\(number)") }
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 77)
        #expect(outcome.errors.contains("somebody guessed at the link of the console"))
    }
}
