import Foundation
import TestSupport
import Testing

/// The packages in a clean Debian 12.
///
/// Only if `TIDEMARK_PACKAGES` names a folder that `Scripts/package` has filled.
@Suite(.timeLimit(.minutes(15)))
struct PackageCheckTests {
    private static let folder = ProcessInfo.processInfo.environment["TIDEMARK_PACKAGES"]

    /// Two minutes, as root and with the network.
    @Test(.enabled(if: Self.folder != nil, "Scripts/package --check runs it"))
    func `the packages install, serve, upgrade and leave nothing behind`() async throws {
        let script = Readme.repository.appendingPathComponent("Scripts/package").path
        let outcome = try await PackagingFile.run(script, "--check", try #require(Self.folder))
        #expect(outcome.exitCode == 0, "\(outcome.output)\n\(outcome.errors)")
        #expect(outcome.output.hasSuffix("== all is as it should be\n"))
    }
}
