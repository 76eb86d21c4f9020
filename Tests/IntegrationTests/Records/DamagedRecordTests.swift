import CloudKit
import Foundation
import TestSupport
import Testing

/// A record that a disk has damaged, and everything that an operator and an app do with the store.
@Suite(.timeLimit(.minutes(10)))
struct DamagedRecordTests {
    /// Replaces the body of a record of a stopped server.
    private static func damage(_ name: String, _ scene: BackupScene) async throws {
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            [
                "-c",
                """
                import os, sqlite3, sys
                connection = sqlite3.connect(sys.argv[1], timeout=30)
                connection.execute("UPDATE record SET body = X'FFFF' WHERE name = ?", (sys.argv[2],))
                connection.commit()
                # Leaves what it wrote in the log: the pages of the file have checksums.
                os._exit(0)
                """,
                scene.server.dataPath + "/tidemark.sqlite", name,
            ]
        )
        try #require(outcome.exitCode == 0, "\(outcome.errors)")
    }

    private static func fill(_ scene: BackupScene) async throws {
        let records = ["a", "bad", "c"].map { scene.record($0, ["text": $0]) }
        _ = try await scene.database().modifyRecords(saving: records, deleting: [])
    }

    private static func exportZone(_ scene: BackupScene) async throws -> ChildProcess.Outcome {
        let arguments = ["--zone", "desk", "--output", scene.path("desk.bundle")]
        return try await ChildProcess.run(
            ChildProcess.tidemark,
            ["zone", "export"] + scene.place() + arguments
        )
    }

    @Test
    func `an app gets past a damaged record, and sees it again once it is replaced`() async throws {
        try await BackupScene.run { scene in
            try await Self.fill(scene)
            let app = SyncApp()
            let engine = app.start(scene.database("engine"))
            try await Self.damage("bad", scene)
            let database = scene.database()
            let id = scene.record("bad").recordID
            for keys in [nil, ["text"]] as [[String]?] {
                let page = try await database.recordZoneChanges(
                    inZoneWith: scene.zone,
                    since: nil,
                    desiredKeys: keys
                )
                #expect(page.modificationResultsByID.count == 3)
                for (found, result) in page.modificationResultsByID {
                    switch result {
                    case .success: #expect(found.recordName != "bad")
                    case .failure(let error):
                        #expect(found == id && (error as? CKError)?.code == .internalError)
                    }
                }
            }
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text >= 'a'"))
            let found = try await database.records(matching: query, inZoneWith: scene.zone).matchResults
            #expect(Set(found.map(\.0.recordName)) == ["a", "bad", "c"])
            #expect(found.filter { (try? $0.1.get()) == nil }.map(\.0) == [id])
            await expect(.internalError) { _ = try await database.record(for: id) }
            try await engine.fetchChanges()
            #expect(Set(app.texts.keys) == ["a", "c"])
            // The connection has lived on, and so does the feed.
            _ = try await database.deleteRecord(withID: id)
            try await database.save(scene.record("bad", ["text": "again"]))
            try await engine.fetchChanges()
            #expect(app.texts == ["a": "a", "bad": "again", "c": "c"])
        }
    }

    @Test
    func `a backup, an export and a list say what they met`() async throws {
        try await BackupScene.run { scene in
            try await Self.fill(scene)
            try await Self.damage("bad", scene)
            // A backup takes the store as it is.
            let backup = try await scene.backUp(to: "backup")
            #expect(backup.exitCode == 0, "\(backup.errors)")
            let bundle = try await Self.exportZone(scene)
            #expect(bundle.exitCode != 0 && bundle.errors.contains("\"bad\""), "\(bundle.errors)")
            #expect(!FileManager.default.fileExists(atPath: scene.path("desk.bundle")))
            let exported = try await scene.records("export", ["--zone", "desk"])
            #expect(exported.exitCode != 0 && exported.errors.contains("bad"), "\(exported.errors)")
            let listed = try await scene.records("damaged", [])
            #expect(listed.exitCode == 65 && listed.output.contains("bad"), "\(listed.errors)")
            try await scene.loseAndRestore("backup")
            #expect(try await scene.records("damaged", []).output.contains("bad"))
            let deleted = try await scene.records("delete", ["bad", "--zone", "desk", "--yes"])
            #expect(deleted.exitCode == 0, "\(deleted.errors)")
            #expect(try await scene.records("damaged", []).exitCode == 0)
            let whole = try await Self.exportZone(scene)
            #expect(whole.exitCode == 0, "\(whole.errors)")
        }
    }

    @Test
    func `a store with a damaged record moves as it is`() async throws {
        try await MigrateScene.run { scene in
            let backup = scene.backup
            try await Self.fill(backup)
            try await Self.damage("bad", backup)
            await backup.server.end(SIGTERM)
            let there = try await scene.there()
            #expect(there.exitCode == 0, "\(there.errors)")
            try await backup.server.start()
            let listed = try await backup.records("damaged", [])
            #expect(listed.exitCode == 65 && listed.output.contains("bad"), "\(listed.errors)")
            await backup.server.end(SIGTERM)
            let back = try await scene.back()
            #expect(back.exitCode == 0, "\(back.errors)")
            try await backup.server.start()
            #expect(try await backup.records("damaged", []).output.contains("bad"))
        }
    }
}
