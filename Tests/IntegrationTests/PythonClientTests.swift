import Foundation
import TestSupport
import Testing

/// The client that was written from the specification alone meets the real server.
@Suite(.timeLimit(.minutes(10)))
struct PythonClientTests {
    private static let python = URL(fileURLWithPath: "/usr/bin/python3")
    private static let scripts = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Python")

    @Test
    func `the golden bytes are those that their script makes`() async throws {
        let folder = try TemporaryDirectory()
        let script = Self.scripts.appendingPathComponent("make_vectors.py").path
        let outcome = try await ChildProcess.run(Self.python, ["-B", script, folder.path])
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let kept = Readme.repository.appendingPathComponent("Protocol/Vectors").path
        let differences = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/diff"),
            ["-r", kept, folder.path]
        )
        #expect(differences.exitCode == 0, "run make_vectors.py: \(differences.output.prefix(1_000))")
    }

    @Test
    func `the fields of messages are those that Scripts/generate writes`() async throws {
        let written = try await ChildProcess.run(
            URL(fileURLWithPath: "/bin/bash"),
            ["-c", "cd '\(Readme.repository.path)' && . Scripts/lib-fields && write_proto"]
        )
        let file = Readme.repository.appendingPathComponent("Protocol/RecordModel/Generated/Proto.swift")
        let kept = try String(contentsOf: file, encoding: .utf8)
        #expect(written.exitCode == 0 && written.output == kept, "run Scripts/generate. \(written.errors)")
    }

    @Test(arguments: ["save_and_fetch.py", "assets.py", "replay_vectors.py"])
    func `the Python client and the server understand each other`(script: String) async throws {
        let directory = try TemporaryDirectory()
        let server = try await ServerUnderTest.start(data: directory.path)
        let token = try await ServerUnderTest.addUser(container: "iCloud.a", data: directory.path)
        let client = try ChildProcess(
            Self.python,
            [
                Self.scripts.appendingPathComponent(script).path, "127.0.0.1", "\(server.port)",
                server.authorityPath, "iCloud.a", token,
            ]
        )
        let outcome = await client.outcome()
        #expect(outcome.exitCode == 0, "\(outcome.output)\n\(outcome.errors)")
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
    }
}
