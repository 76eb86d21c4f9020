import CloudKit
import Foundation
import TestSupport
import Testing

/// The verification that a server makes by itself.
@Suite(.timeLimit(.minutes(10)))
struct ScheduledVerificationTests {
    private struct Status: Decodable {
        struct Verified: Decodable {
            var ended: String
            var findings: Int
        }

        var verified: Verified?
    }

    private static func status(_ scene: BackupScene) async throws -> Status {
        let outcome = try await ChildProcess.tidemark("status", "--json", "--data", scene.server.dataPath)
        return try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8))
    }

    /// Waits until a verification has ended after the one that was known.
    private static func next(after known: String?, _ scene: BackupScene) async throws -> Status.Verified {
        while true {
            if let verified = try await Self.status(scene).verified, verified.ended != known {
                return verified
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    @Test
    func `a server verifies at intervals, and tells what it finds in log, status and metrics`() async throws {
        let scratch = try TemporaryDirectory()
        let metrics = scratch.path + "/metrics.prom"
        let settings = ["verify_interval_s=1", "metrics_file=\(metrics)", "metrics_file_interval_s=1"]
        try await BackupScene.run(settings: settings.flatMap { ["--set", $0] }) { scene in
            let file = try scene.files.asset("file", bytes: 3_000_000, seed: 1)
            try await scene.database().save(scene.record("note", ["file": file]))
            let clean = try await Self.next(after: nil, scene)
            #expect(clean.findings == 0)
            #expect(scene.server.log().contains("a verification begins"))
            #expect(scene.server.log().contains("a verification found no damage"))
            let folder = scene.server.dataPath + "/assets"
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
                $0.contains("/")
            }
            let path = folder + "/" + (try #require(files.first))
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            try Data(count: bytes.count).write(to: URL(fileURLWithPath: path))
            var found = clean
            while found.findings == 0 { found = try await Self.next(after: found.ended, scene) }
            #expect(found.findings == 1)
            let log = scene.server.log()
            #expect(log.contains("found in a verification") && log.contains("assetFile"))
            #expect(log.contains("a verification found damage") && log.contains("findings=1"))
            let text = try await ChildProcess.tidemark("status", "--data", scene.server.dataPath).output
            #expect(text.contains("(1 findings: run tidemark verify)"), "\(text)")
            await eventually {
                let text = (try? String(contentsOfFile: metrics, encoding: .utf8)) ?? ""
                return text.contains("\ntidemark_verification_findings 1.0\n")
                    && text.contains("\ntidemark_verified_timestamp_seconds 1")
            }
            try bytes.write(to: URL(fileURLWithPath: path))
            // A run by hand tells as well.
            let verified = try await ChildProcess.tidemark("verify", "--data", scene.server.dataPath)
            #expect(verified.exitCode == 0)
            while found.findings > 0 { found = try await Self.next(after: found.ended, scene) }
        }
    }

    @Test
    func `a verification goes on after a restart where it was`() async throws {
        try await BackupScene.run(settings: ["--set", "verify_interval_s=3600"]) { scene in
            try await scene.database().save(scene.record("note"))
            await scene.server.end(SIGTERM)
            let note = """
                {"running": {"began": "2026-11-01T00:00:00.000Z", "findings": 3,
                "position": {"part": "files", "after": 0}}}
                """
            try note.write(
                toFile: scene.server.dataPath + "/verified.json",
                atomically: true,
                encoding: .utf8
            )
            scene.server.settings = ["--set", "verify_interval_s=1"]
            try await scene.server.start()
            let verified = try await Self.next(after: nil, scene)
            #expect(verified.findings == 3)
            let log = scene.server.log()
            #expect(log.contains("a verification goes on") && log.contains("since=2026-11-01T00:00:00.000Z"))
        }
    }

    @Test
    func `a server with an interval of 0 verifies nothing`() async throws {
        try await BackupScene.run(settings: ["--set", "verify_interval_s=0"]) { scene in
            try await Task.sleep(for: .seconds(2))
            #expect(try await Self.status(scene).verified == nil)
            #expect(!scene.server.log().contains("a verification begins"))
        }
    }
}
