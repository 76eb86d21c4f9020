import Foundation
import Testing

/// The first command of a newcomer.
///
/// Long: builds two products when they are not built.
@Suite(
    .timeLimit(.minutes(15)),
    .enabled(
        if: ProcessInfo.processInfo.environment["TIDEMARK_LONG_TESTS"] != nil,
        "set TIDEMARK_LONG_TESTS=1"
    )
)
struct QuickstartTests {
    @Test
    func `quickstart loads its data and ends with 0`() async throws {
        let script = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Scripts/quickstart")
        let outcome = try await ExecutableUnderTest(script, ["--once"]).outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("serverRecordChanged"))
        #expect(outcome.output.contains(/export TIDEMARK_TOKEN=tmk_/))
        let folder = try #require(outcome.output.firstMatch(of: /Clients trust (\S+)\/data\/tls\/ca.pem/)).1
        #expect(!FileManager.default.fileExists(atPath: String(folder)))
    }
}
