import CloudKit
import Foundation
import TestSupport
import Testing

/// `tidemark verify`, while the server runs.
@Suite(.timeLimit(.minutes(10)))
struct VerifyCommandTests {
    private struct Report: Decodable {
        struct Finding: Decodable {
            var kind: String
            var container: String?
            var zone: String?
            var meaning: String
            var remedy: String
        }

        var zones: Int
        var records: Int
        var assets: Int
        var count: Int
        var repairs: Int
        var findings: [Finding]
        var pages: [String]
    }

    private func verify(
        _ scene: BackupScene,
        _ arguments: String...
    ) async throws -> (exitCode: Int32, report: Report) {
        let outcome = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["verify", "--json", "--data", scene.server.dataPath] + arguments
        )
        let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
        return (outcome.exitCode, report)
    }

    private func execute(_ sql: String, _ scene: BackupScene) async throws {
        let script = """
            import sqlite3, sys
            connection = sqlite3.connect(sys.argv[1], timeout=30)
            connection.execute(sys.argv[2])
            connection.commit()
            """
        let path = scene.server.dataPath + "/tidemark.sqlite"
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            ["-c", script, path, sql]
        )
        try #require(outcome.exitCode == 0, "\(outcome.errors)")
    }

    private func fill(_ scene: BackupScene) async throws {
        let url = scene.files.url("photo")
        try Data(repeating: 7, count: 300_000).write(to: url)
        let notes = (1...20).map { scene.record("note-\($0)", ["text": "note \($0)"]) }
        notes[0]["photo"] = CKAsset(fileURL: url)
        _ = try await scene.database().modifyRecords(saving: notes, deleting: [])
    }

    @Test
    func `a whole store has no finding, and a damaged one is repaired beside the server`() async throws {
        try await BackupScene.run { scene in
            try await self.fill(scene)
            let whole = try await self.verify(scene)
            #expect(whole.exitCode == 0 && whole.report.count == 0 && whole.report.pages == [])
            #expect(whole.report.records == 22 && whole.report.assets == 1 && whole.report.zones > 2)
            try await self.execute("UPDATE zone SET record_count = 7 WHERE name = 'desk'", scene)
            try await self.execute(
                "DELETE FROM index_entry WHERE record = (SELECT max(number) FROM record)",
                scene
            )
            let damaged = try await self.verify(scene)
            #expect(damaged.exitCode == 65 && damaged.report.repairs == 0)
            let kinds = Set(damaged.report.findings.map(\.kind))
            #expect(kinds == ["zoneCounters", "indexEntryMissing", "databaseCounters"])
            #expect(damaged.report.findings.allSatisfy { $0.container != nil })
            #expect(
                damaged.report.findings.allSatisfy { $0.remedy.contains("--repair") && !$0.meaning.isEmpty }
            )
            #expect(try await self.verify(scene, "--only", "iCloud.nobody").exitCode == 0)
            var last = try await self.verify(scene, "--repair")
            #expect(last.report.repairs > 0)
            // The server builds indexes, and the counters of what is built are right after another turn.
            while last.exitCode != 0 { last = try await self.verify(scene, "--repair", "--rate", "0") }
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text >= 'n'"))
            let found = try await scene.database().records(matching: query, inZoneWith: scene.zone)
            #expect(found.matchResults.count == 20)
        }
    }

    @Test
    func `a damaged file and damaged pages are findings, with what helps`() async throws {
        try await BackupScene.run { scene in
            try await self.fill(scene)
            let assets = scene.server.dataPath + "/assets/"
            let names = try FileManager.default.subpathsOfDirectory(atPath: assets)
            let name = try #require(names.first { $0.contains("/") })
            try FileManager.default.removeItem(atPath: assets + name)
            let (exitCode, report) = try await self.verify(scene)
            #expect(exitCode == 65 && report.findings.map(\.kind) == ["assetFile"])
            let people = try await ChildProcess.tidemark("verify", "--data", scene.server.dataPath)
            #expect(people.exitCode == 65 && people.output.contains("assets/\(name) missing"))
            #expect(people.output.contains("Restore the file from a backup"))
            #expect(people.errors.contains("1 findings in"))
        }
    }
}
