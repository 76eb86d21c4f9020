import Foundation
import TestSupport
import Testing

/// The first command of a newcomer, but for the build.
@Suite(.timeLimit(.minutes(5)))
struct QuickstartTests {
    @Test
    func `quickstart loads its data and ends with 0`() async throws {
        let script = Self.repository.appendingPathComponent("Scripts/quickstart")
        let outcome = try await ChildProcess(
            script,
            ["--once"],
            environment: ["TIDEMARK_BIN": ChildProcess.buildFolder.path]
        ).outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("serverRecordChanged"))
        #expect(outcome.output.contains(/export TIDEMARK_TOKEN=tmk_/))
        #expect(outcome.output.contains(/\d ms after the commit/))
        #expect(outcome.output.contains("saved Country JP"))
        #expect(outcome.output.contains(/Uploaded and downloaded, both SHA-256 [0-9a-f]{64}\n/))
        let folder = try #require(outcome.output.firstMatch(of: /Clients trust (\S+)\/data\/tls\/ca.pem/)).1
        #expect(!FileManager.default.fileExists(atPath: String(folder)))
    }

    /// The file is compiled with the package.
    @Test
    func `the program in the README is the one in Examples`() throws {
        let readme = try String(
            contentsOf: Self.repository.appendingPathComponent("README.md"),
            encoding: .utf8
        )
        let file = Self.repository.appendingPathComponent("Clients/Examples/Notes/Notes.swift")
        let block = try #require(readme.firstMatch(of: /```swift\n((?s).*?)```/)).1
        #expect(String(block) == (try String(contentsOf: file, encoding: .utf8)))
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

    private static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
