import Foundation
import TestSupport
import Testing

/// The first command of a newcomer, but for the build.
@Suite(.timeLimit(.minutes(2)))
struct QuickstartTests {
    @Test
    func `quickstart loads its data and ends with 0`() async throws {
        let script = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Scripts/quickstart")
        let outcome = try await ChildProcess(
            script,
            ["--once"],
            environment: ["TIDEMARK_BIN": ChildProcess.buildFolder.path]
        ).outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("serverRecordChanged"))
        #expect(outcome.output.contains(/export TIDEMARK_TOKEN=tmk_/))
        let folder = try #require(outcome.output.firstMatch(of: /Clients trust (\S+)\/data\/tls\/ca.pem/)).1
        #expect(!FileManager.default.fileExists(atPath: String(folder)))
    }
}
