import Foundation
import TestSupport
import Testing

/// The first command of a newcomer, but for the build.
@Suite(.timeLimit(.minutes(10)))
struct QuickstartTests {
    @Test
    func `quickstart loads its data as the README shows, ends with 0, and leaves nothing behind`()
        async throws
    {
        let folder = try Self.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let outcome = try await ChildProcess(
            Self.script,
            ["--once"],
            environment: [
                "TIDEMARK_BIN": ChildProcess.buildFolder.path, "TMPDIR": folder.path,
                "XDG_STATE_HOME": folder.path, "XDG_CACHE_HOME": folder.path,
            ]
        ).outcome()
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(outcome.output.contains("serverRecordChanged"))
        #expect(outcome.output.contains(/export TIDEMARK_TOKEN=tmk_/))
        #expect(outcome.output.contains(/\d ms after the commit/))
        #expect(outcome.output.contains("saved Country JP"))
        #expect(outcome.output.contains(/Uploaded and downloaded, both SHA-256 [0-9a-f]{64}\n/))
        var rest = Self.normalized(outcome.output)[...]
        let shown = try #require(try Readme().blocks(in: "text").first { $0.text.hasPrefix("+ iso-") })
        // An ellipsis stands for what was left out.
        for line in shown.text.split(separator: "\n") where line != "…" {
            let text = Self.normalized(String(line.prefix { $0 != "…" }))
            let found = try #require(rest.range(of: text), "\(line)")
            rest = rest[found.upperBound...]
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    /// Without numbers, which differ from run to run.
    private static func normalized(_ text: String) -> String { text.replacing(/[0-9]+/, with: "0") }

    /// A newcomer who is not told thinks that it hangs.
    @Test
    func `quickstart says how long it builds before it builds, once`() async throws {
        let folder = try Self.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let swift = folder.appendingPathComponent("swift")
        try "#!/bin/sh\necho \"swift is run with $*\"\nexit 9\n"
            .write(to: swift, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: swift.path)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let outcome = try await ChildProcess(
            Self.script,
            ["--once"],
            environment: ["PATH": "\(folder.path):\(path)"]
        ).outcome()
        #expect(outcome.exitCode == 9)
        #expect(outcome.output.contains(/takes .* minutes.*\n(?s:.*)\nswift is run with build\n$/))
        #expect(outcome.output.matches(of: /swift is run/).count == 1)
    }

    @Test
    func `the program in the README says in a line what fails, and at once that no server responds`()
        async throws
    {
        let program = ChildProcess.buildFolder.appendingPathComponent("Notes")
        let unconfigured = try await ChildProcess.run(program, [])
        #expect(unconfigured.exitCode == 1)
        #expect(unconfigured.output.contains("set TIDEMARK_URL to tidemark://host:port"))
        #expect(unconfigured.errors.isEmpty, "\(unconfigured.errors)")

        let url = ["TIDEMARK_URL": "tidemark://127.0.0.1:\(FreePort.take())", "TIDEMARK_TOKEN": "tmk_x"]
        let waiting = try ChildProcess(program, [], environment: url)
        await eventually { waiting.errorsSoFar.contains("the server does not respond, and is tried again") }
        waiting.signal(SIGKILL)
        _ = await waiting.outcome()
    }

    @Test
    func `the program in the README writes a note, and meets itself when it runs again`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-notes-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = "iCloud.org.example.notes"
        let server = try await ServerUnderTest.start(data: folder.path)
        let token = try await ServerUnderTest.addUser(container: container, data: folder.path)
        let environment = [
            "TIDEMARK_URL": "tidemark://\(server.address)", "TIDEMARK_CA": server.authorityPath,
            "TIDEMARK_TOKEN": token,
        ]
        for lines in [1, 2] {
            let outcome = try await ChildProcess(
                ChildProcess.buildFolder.appendingPathComponent("Notes"),
                [],
                environment: environment
            ).outcome()
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            #expect(outcome.output.split(separator: "\n").count == lines)
            #expect(outcome.output.contains(/Written on Linux \d{4}-/))
        }
    }

    private static let script = Readme.repository.appendingPathComponent("Scripts/quickstart")

    private static func makeFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-quickstart-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}
