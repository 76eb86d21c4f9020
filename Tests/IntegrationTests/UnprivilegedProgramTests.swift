import Foundation
import TestSupport
import Testing

/// Programs of a user without any rights on their machine, also when the tests have all of them.
@Suite(.timeLimit(.minutes(10)))
struct UnprivilegedProgramTests {
    /// Runs a program without capabilities, as a user's shell would.
    private static func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String]
    ) async throws -> ChildProcess.Outcome {
        let file = ChildProcess.buildFolder.appendingPathComponent(program)
        // Only root has any to give up.
        guard geteuid() == 0 else {
            return try await ChildProcess.run(file, arguments, environment: environment)
        }
        return try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/setpriv"),
            ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", file.path] + arguments,
            environment: environment
        )
    }

    @Test
    func `a program without privileges connects and saves`() async throws {
        let directory = try TemporaryDirectory()
        let container = "iCloud.org.example.notes"
        let server = try await ServerUnderTest.start(data: directory.path + "/data")
        let token = try await ServerUnderTest.addUser(container: container, data: directory.path + "/data")
        let environment = [
            "TIDEMARK_URL": "tidemark://\(server.address)", "TIDEMARK_CA": server.authorityPath,
            "TIDEMARK_CONTAINER": container, "TIDEMARK_TOKEN": token,
        ]
        let note = try await Self.run("Notes", [], environment: environment)
        #expect(note.exitCode == 0, "\(note.errors)")
        #expect(note.output.contains("Written on Linux"))
        let load = try await Self.run(
            "tidemark-load",
            ["save", "--connections", "2", "--records", "400", "--warm-up", "0", "--duration", "0.2"],
            environment: environment
        )
        #expect(load.exitCode == 0, "\(load.errors)")
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
    }
}
