import CloudKit
import Foundation
import TestSupport
import Testing

/// `--verify`: that it passes while a server is killed over and over, and that it can fail.
@Suite(.timeLimit(.minutes(20)))
struct LoadTestVerifyTests {
    /// `TIDEMARK_LOAD_SECONDS` is for long runs.
    private static let seconds =
        ProcessInfo.processInfo.environment["TIDEMARK_LOAD_SECONDS"].flatMap { Int($0) } ?? 12

    @Test
    func `a mix of everything loses nothing, though the server is killed every three seconds`() async throws {
        let load = try await LoadTestProcess.start(users: 2)
        let pidFile = load.server.folder.path + "/pid"
        try "\(try #require(load.server.processID))".write(toFile: pidFile, atomically: true, encoding: .utf8)
        // On a busy machine the server may not be back yet: then there is nothing to kill.
        let kill = "kill -KILL $(cat \(pidFile)) || true"
        let process = try load.begin([
            "mix", "--verify", "--duration", "\(Self.seconds)", "--connections", "8", "--records", "1280",
            "--warm-up", "1", "--chaos", kill, "--chaos-interval", "3",
        ])
        while !LoadTestProcess.hasEnded(process.processID) {
            try await Task.sleep(for: .milliseconds(20))
            guard let server = load.server.processID, LoadTestProcess.hasEnded(server) else { continue }
            await load.server.end(SIGKILL)
            try await load.server.start()
            try "\(load.server.processID ?? 0)".write(toFile: pidFile, atomically: true, encoding: .utf8)
        }
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 0, "\(outcome.output)\n\(outcome.errors)")
        let result = try load.result()
        #expect(result.chaosSeconds.count >= Self.seconds / 3 - 1)
        let verification = try #require(result.verification)
        #expect(verification.violations.count == 0)
        #expect(verification.records > 1_280)
        for kind in ["save", "save-batch", "delete", "fetch", "query", "changes", "push", "upload", "sync"] {
            #expect((result.operations[kind]?.answers ?? 0) > 0, "\(kind)")
        }
    }

    @Test
    func `a record that is deleted behind its back is found, named and fails the run`() async throws {
        let load = try await LoadTestProcess.start(users: 1)
        // Nothing writes, so that what is lost stays lost; and nothing reads until the end.
        let process = try load.begin([
            "changes", "--rate", "1", "--verify", "--duration", "3", "--connections", "1", "--records", "160",
            "--warm-up", "0", "--zones", "1", "--page", "1",
        ])
        try await LoadTestProcess.hear("\n1 s", from: process)
        let (container, zone) = try self.zone(of: load)
        let records = try await container.privateCloudDatabase.recordZoneChanges(inZoneWith: zone, since: nil)
        let ids = records.modificationResultsByID.keys.sorted { $0.recordName < $1.recordName }
        #expect(ids.count == 160)
        // One lost, one with other contents, one that nobody saved.
        let spoilt = try await container.privateCloudDatabase.record(for: ids[1])
        spoilt["payload"] = Data(repeating: 1, count: 100)
        let foreign = CKRecord(
            recordType: "LoadItem",
            recordID: CKRecord.ID(recordName: "foreign", zoneID: zone)
        )
        _ = try await container.privateCloudDatabase.modifyRecords(
            saving: [spoilt, foreign],
            deleting: [ids[0]]
        )
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 65, "\(outcome.output)")
        #expect(outcome.output.contains("NOT VERIFIED"))
        #expect(outcome.output.contains("lost: \(ids[0].recordName)"))
        let violations = try #require(try load.result().verification).violations.first
        #expect(violations.contains { $0.kind == "lost" && $0.recordName == ids[0].recordName })
        #expect(violations.contains { $0.kind == "spoilt" && $0.recordName == ids[1].recordName })
        #expect(violations.contains { $0.kind == "unexpected" && $0.recordName == "foreign" })
        #expect(
            violations.allSatisfy { $0.zone == zone.zoneName && !$0.expected.isEmpty && !$0.found.isEmpty }
        )
    }

    @Test
    func `a command of chaos that fails ends the run`() async throws {
        let load = try await LoadTestProcess.start(users: 1)
        let outcome = try await load.run(
            "fetch",
            "--duration",
            "3",
            "--connections",
            "2",
            "--records",
            "320",
            "--chaos",
            "exit 3",
            "--chaos-interval",
            "0.5"
        )
        #expect(outcome.exitCode == 70)
        #expect(outcome.errors.contains("'exit 3' failed: it exited with code 3"))
    }

    private func zone(of load: LoadTestProcess) throws -> (CKContainer, CKRecordZone.ID) {
        let connection = CKServerConnection(
            url: "tidemark://127.0.0.1:\(load.server.port)",
            token: load.tokens[0],
            certificateAuthority: .file(load.server.authorityPath)
        )
        let container = CKContainer(identifier: LoadTestProcess.container, connection: connection)
        return (container, CKRecordZone.ID(zoneName: "load-run-0-0", ownerName: CKCurrentUserDefaultName))
    }
}
