import CloudKit
import Foundation
import TestSupport
import Testing

/// Imports that end before their time, and what the next one makes of it.
@Suite(.timeLimit(.minutes(10)))
struct BundleResumeTests {
    private static let count = 8_000

    private struct Report: Decodable {
        let records: Int
        let alreadyThere: Int
    }

    private static func fill(_ scene: BundleScene) async throws {
        let source = scene.source
        let database = source.database()
        let file = try source.files.asset("file", bytes: 300_000, seed: 1)
        _ = try await database.save(source.record("r0", ["text": "first", "file": file]))
        for start in stride(from: 1, to: Self.count, by: 400) {
            let records = (start..<min(start + 400, Self.count)).map {
                source.record("r\($0)", ["text": "record \($0)"])
            }
            _ = try await database.modifyRecords(saving: records, deleting: [])
        }
    }

    private static func start(
        _ scene: BundleScene,
        _ bundle: String,
        to zone: String
    ) throws -> ChildProcess {
        try ChildProcess(
            ChildProcess.tidemark,
            [
                "zone", "import", bundle, "--to", zone, "--container", BackupScene.containerID, "--as",
                "alice", "--data", scene.target.dataPath,
            ]
        )
    }

    /// Waits until a record of the zone is there.
    private static func wait(for name: String, in zone: String, _ scene: BundleScene) async {
        let id = CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: zone))
        let database = scene.container(for: "alice").privateCloudDatabase
        while (try? await database.record(for: id)) == nil {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    private static func report(_ outcome: ChildProcess.Outcome) throws -> Report {
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
    }

    @Test
    func `an import that was killed continues when it is run again`() async throws {
        try await BundleScene.run { scene in
            try await Self.fill(scene)
            let bundle = try await scene.bundle()
            let before = Set(try await scene.feed(of: scene.source.server.dataPath))
            #expect(before.count == Self.count)
            var parts = 0
            for round in 0..<4 {
                let zone = "round\(round)"
                let process = try Self.start(scene, bundle, to: zone)
                await Self.wait(for: "r\(round * 1_500)", in: zone, scene)
                process.signal(SIGKILL)
                _ = await process.outcome()
                let part = try await scene.feed(of: scene.target.dataPath, zone: zone).count
                #expect(part > 0)
                if part < Self.count { parts += 1 }
                let dry = try await scene.importBundle([bundle, "--to", zone, "--dry-run", "--json"])
                #expect(try Self.report(dry).alreadyThere == part)
                let again = try await scene.importBundle([bundle, "--to", zone, "--json"])
                #expect(try Self.report(again).alreadyThere == part)
                let after = Set(try await scene.feed(of: scene.target.dataPath, zone: zone))
                #expect(after == before)
            }
            // Otherwise every import was faster than its end.
            #expect(parts > 0)
            let whole = try await scene.importBundle([bundle, "--to", "round0"])
            #expect(whole.exitCode == 0 && whole.output.contains("\(Self.count) of the records were here"))
            let verified = try await ChildProcess.tidemark(
                "assets",
                "verify",
                "--data",
                scene.target.dataPath
            )
            #expect(verified.exitCode == 0, "\(verified.output)")
        }
    }

    @Test
    func `a part that somebody has changed is left alone`() async throws {
        try await BundleScene.run { scene in
            try await Self.fill(scene)
            let bundle = try await scene.bundle()
            let process = try Self.start(scene, bundle, to: "part")
            await Self.wait(for: "r0", in: "part", scene)
            process.signal(SIGKILL)
            _ = await process.outcome()
            let database = scene.container(for: "alice").privateCloudDatabase
            let zone = CKRecordZone.ID(zoneName: "part")
            let record = try await database.record(for: CKRecord.ID(recordName: "r0", zoneID: zone))
            record["text"] = "changed"
            _ = try await database.save(record)
            let before = try await scene.feed(of: scene.target.dataPath, zone: "part")
            let refused = try await scene.importBundle([bundle, "--to", "part"])
            #expect(refused.exitCode == 65 && refused.errors.contains("have changed"), "\(refused.errors)")
            #expect(try await scene.feed(of: scene.target.dataPath, zone: "part") == before)

            // A zone with more than the bundle has is no part of it.
            let done = try await scene.importBundle([bundle, "--to", "more"])
            #expect(done.exitCode == 0, "\(done.errors)")
            let own = CKRecord.ID(recordName: "own", zoneID: CKRecordZone.ID(zoneName: "more"))
            _ = try await database.save(CKRecord(recordType: "Note", recordID: own))
            let more = try await scene.importBundle([bundle, "--to", "more"])
            #expect(more.exitCode == 65, "\(more.errors)")
        }
    }

    @Test
    func `a second import into the same folder waits for its turn`() async throws {
        try await BundleScene.run { scene in
            try await Self.fill(scene)
            let bundle = try await scene.bundle()
            // It has the lock once it reads the bundle, which comes through a pipe that stays open.
            let pipe = scene.path("pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            let first = try Self.start(scene, pipe, to: "first")
            let end = try #require(FileHandle(forWritingAtPath: pipe))
            let second = try await scene.importBundle([bundle, "--to", "second"])
            #expect(second.exitCode == 69 && second.errors.contains("another import"), "\(second.errors)")
            let dry = try await scene.importBundle([bundle, "--to", "second", "--dry-run"])
            #expect(dry.exitCode == 0, "\(dry.errors)")
            try end.write(contentsOf: Data(contentsOf: URL(fileURLWithPath: bundle)))
            try end.close()
            let outcome = await first.outcome()
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
        }
    }

    @Test
    func `the public database travels with its authors and files`() async throws {
        try await BundleScene.run { scene in
            let source = scene.source
            let users = [("alices", "carol"), ("bobs", "bob")]
            for (name, user) in users {
                let container = try await scene.newUser(user)
                let record = CKRecord(recordType: "Post", recordID: .init(recordName: name))
                record["text"] = "by \(name)"
                record["file"] = try source.files.asset(name, bytes: 200_000, seed: 3)
                _ = try await container.publicCloudDatabase.save(record)
            }
            let place = ["--container", BackupScene.containerID, "--database", "public"]
            func records(_ data: String) async throws -> [String] {
                let files = scene.path("assets-\(UUID().uuidString)")
                let outcome = try await ChildProcess.run(
                    ChildProcess.tidemark,
                    ["records", "export", "--type", "Post", "--data", data, "--assets", files] + place
                )
                #expect(outcome.exitCode == 0, "\(outcome.errors)")
                return try outcome.objects.map { object in
                    var object = object
                    object["recordChangeTag"] = nil
                    return String(
                        decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys),
                        as: UTF8.self
                    )
                }.sorted()
            }
            func zone(
                _ command: String,
                _ data: String,
                _ more: [String]
            ) async throws -> ChildProcess.Outcome {
                try await ChildProcess.run(
                    ChildProcess.tidemark,
                    ["zone", command, "--data", data] + place + more
                )
            }
            let bundle = scene.path("public.tidemark")
            let theirs = source.server.dataPath
            let asAlice = try await zone("export", theirs, ["--all", "--output", bundle, "--as", "alice"])
            #expect(asAlice.exitCode == 64, "\(asAlice.errors)")
            let exported = try await zone("export", theirs, ["--all", "--output", bundle])
            #expect(exported.exitCode == 0, "\(exported.errors)")

            let ours = scene.target.dataPath
            let other = try await scene.importBundle([bundle])
            #expect(other.exitCode == 65, "\(other.errors)")
            #expect(other.errors.contains("--database public"), "\(other.errors)")
            let nobody = try await zone("import", ours, [bundle])
            #expect(nobody.exitCode == 64 && nobody.errors.contains("--as"), "\(nobody.errors)")
            _ = try await scene.target.administer(
                ["key", "add", "importer", "--container", BackupScene.containerID]
            )
            for already in [0, 2] {
                let done = try await zone("import", ours, [bundle, "--as", "importer", "--json"])
                #expect(try Self.report(done).alreadyThere == already)
            }
            let before = try await records(theirs)
            #expect(before.count == 2)
            #expect(try await records(ours) == before)
            let record = try await scene.container(for: "bob").publicCloudDatabase
                .record(for: .init(recordName: "alices"))
            #expect(try record.file("file") == Data(contentsOf: source.files.url("alices")))
        }
    }
}
