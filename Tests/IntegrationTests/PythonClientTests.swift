import Foundation
import TestSupport
import Testing

/// The client that was written from the specification alone meets the real server.
@Suite(.timeLimit(.minutes(5)))
struct PythonClientTests {
    private static let python = URL(fileURLWithPath: "/usr/bin/python3")
    private static let scripts = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Python")

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
