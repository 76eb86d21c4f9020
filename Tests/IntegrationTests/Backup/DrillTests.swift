import CloudKit
import Foundation
import TestSupport
import Testing

/// `tidemark backup --drill`: whether it finds what a restore would stumble over, and later.
@Suite(.timeLimit(.minutes(10)))
struct DrillTests {
    private struct Report: Decodable {
        var backup: String
        var records: Int
        var assets: Int
        var comparedRecords: Int?
        var problems: [String]
    }

    /// A drill of the backups in a folder, in a scratch folder that must be empty afterwards.
    private func drill(_ scene: BackupScene, _ arguments: String...) async throws -> ChildProcess.Outcome {
        let scratch = scene.path("scratch")
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        let outcome = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["backup", "--drill", "--from", scene.path("backups"), "--scratch", scratch]
                + ["--data", scene.server.dataPath] + arguments
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch).isEmpty)
        return outcome
    }

    /// Changes the database of a backup, as somebody would who then mends its hash.
    private func change(_ scene: BackupScene, _ backup: String, _ sql: String) async throws {
        let statement = """
            import sqlite3, sys
            sqlite3.connect(sys.argv[1] + "/tidemark.sqlite", isolation_level=None).execute(sys.argv[2])
            """
        let changed = try await Self.python(statement, scene.path(backup), sql)
        #expect(changed.exitCode == 0, "\(changed.errors)")
        try PageSums.restore(inFile: scene.path(backup) + "/tidemark.sqlite")
        let script = """
            import hashlib, json, sys
            folder = sys.argv[1]
            manifest = json.load(open(folder + "/backup.json"))
            bytes = open(folder + "/tidemark.sqlite", "rb").read()
            for file in manifest["files"]:
                if file["path"] == "tidemark.sqlite":
                    file["sha256"], file["bytes"] = hashlib.sha256(bytes).hexdigest(), len(bytes)
            json.dump(manifest, open(folder + "/backup.json", "w"))
            """
        let outcome = try await Self.python(script, scene.path(backup))
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
    }

    private static func python(_ script: String, _ arguments: String...) async throws -> ChildProcess.Outcome
    {
        try await ChildProcess.run(URL(fileURLWithPath: "/usr/bin/python3"), ["-c", script] + arguments)
    }

    private func fill(_ scene: BackupScene) async throws {
        let database = scene.database()
        let url = scene.files.url("photo")
        try Data(repeating: 7, count: 300_000).write(to: url)
        let notes = (1...50).map { scene.record("note-\($0)", ["text": "note \($0)"]) }
        notes[0]["photo"] = CKAsset(fileURL: url)
        _ = try await database.modifyRecords(saving: notes, deleting: [])
        try FileManager.default.createDirectory(
            atPath: scene.path("backups"),
            withIntermediateDirectories: true
        )
    }

    @Test
    func `the newest backup is restored, counted and compared, and the result kept for a collector`()
        async throws
    {
        try await BackupScene.run { scene in
            try await self.fill(scene)
            let none = try await self.drill(scene)
            #expect(none.exitCode == 66 && none.errors.contains("there is no complete backup in"))
            #expect(try await scene.backUp(to: "backups/a").exitCode == 0)
            // The date of a backup is in seconds.
            try await Task.sleep(for: .milliseconds(1_100))
            _ = try await scene.database().modifyRecords(
                saving: [scene.record("later")],
                deleting: [scene.record("note-2").recordID]
            )
            #expect(try await scene.backUp(to: "backups/b").exitCode == 0)
            // Changed since, and so not compared.
            _ = try await scene.database().deleteRecord(withID: scene.record("note-3").recordID)
            try FileManager.default.createDirectory(
                atPath: scene.path("backups/unfinished"),
                withIntermediateDirectories: true
            )

            let metrics = scene.path("drill.prom")
            let outcome = try await self.drill(scene, "--json", "--metrics-file", metrics)
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
            #expect(report.backup == scene.path("backups/b"))
            // Two are those of the user, of each environment.
            #expect(report.records == 52)
            #expect(report.assets == 1)
            #expect(report.problems.isEmpty)
            #expect((800..<1_000).contains(try #require(report.comparedRecords)))
            let text = try String(contentsOfFile: metrics, encoding: .utf8)
            #expect(text.contains("\ntidemark_backup_drill_success 1.0\n"))
            #expect(text.contains("\ntidemark_backup_time_seconds 1"))
            #expect(ExpositionGrammar(text).faults.isEmpty)

            let people = try await self.drill(scene)
            #expect(people.exitCode == 0 && people.output.contains("52 records of"))
            #expect(people.output.contains("records compared with the data folder"))
            // The backup itself was only read.
            #expect(try await scene.restore("backups/b", to: "again").exitCode == 0)
        }
    }

    @Test
    func `damaged files and rows are found, each by its own comparison`() async throws {
        try await BackupScene.run { scene in
            try await self.fill(scene)
            let metrics = scene.path("drill.prom")
            func problems() async throws -> String {
                let outcome = try await self.drill(scene, "--metrics-file", metrics)
                #expect(outcome.exitCode == 65)
                let text = try String(contentsOfFile: metrics, encoding: .utf8)
                #expect(text.contains("\ntidemark_backup_drill_success 0.0\n"))
                try FileManager.default.removeItem(atPath: scene.path("backups/a"))
                return outcome.errors
            }
            func backUp() async throws { #expect(try await scene.backUp(to: "backups/a").exitCode == 0) }

            try await backUp()
            let file = try FileHandle(
                forUpdating: URL(fileURLWithPath: scene.path("backups/a/tidemark.sqlite"))
            )
            try file.seek(toOffset: 50_000)
            try file.write(contentsOf: Data([1, 2, 3]))
            try file.close()
            #expect(try await problems().contains("tidemark.sqlite"))

            try await backUp()
            let assets = try scene.tree("backups/a/assets")
            let photo = try #require(assets.first { $0.value.count == 300_000 }?.key)
            try FileManager.default.removeItem(atPath: scene.path("backups/a/assets/" + photo))
            #expect(try await problems().contains(": missing"))

            try await backUp()
            try await self.change(scene, "backups/a", "UPDATE zone SET record_count = 7 WHERE name = 'desk'")
            let counted = try await problems()
            #expect(
                counted.contains("zoneCounters") && counted.contains("zone desk (7 records"),
                "\(counted)"
            )

            try await backUp()
            try await self.change(scene, "backups/a", "UPDATE record SET modified_ms = modified_ms + 1")
            #expect(try await problems().contains("is not what \(scene.server.dataPath) has"))

            try await backUp()
            try Data("{".utf8).write(to: URL(fileURLWithPath: scene.path("backups/a/backup.json")))
            // A folder of which nobody knows what it is, is no backup.
            let outcome = try await self.drill(scene)
            #expect(outcome.exitCode == 66)
            let named = try await ChildProcess.tidemark(
                "backup",
                "--drill",
                "--from",
                scene.path("backups/a")
            )
            #expect(named.exitCode == 65 && named.errors.contains("cannot be read by this version"))
        }
    }

    @Test
    func `a drill makes no backup, and a backup no drill`() async throws {
        for arguments in [
            ["--drill"], ["--drill", "--from", "a", "--to", "b"], ["--to", "a", "--from", "b"],
        ] {
            let outcome = try await ChildProcess.run(ChildProcess.tidemark, ["backup"] + arguments)
            #expect(outcome.exitCode == 64, "\(arguments)")
        }
    }
}
