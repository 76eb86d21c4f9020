import CloudKit
import Foundation
import TestSupport
import Testing

/// `tidemark migrate`: stores of real servers go into PostgreSQL and back.
@Suite(.timeLimit(.minutes(10)))
struct MigrateTests {
    @Test
    func `a store goes into PostgreSQL and back, and clients fetch anew both times`() async throws {
        try await MigrateScene.run { scene in
            let (backup, server) = (scene.backup, scene.backup.server)
            try await scene.fill(records: 600)
            let names = try await backup.names()
            let before = try await server.administer([
                "usage", "--container", BackupScene.containerID, "--json",
            ])
            var token = try await backup.database().recordZoneChanges(inZoneWith: backup.zone, since: nil)
                .changeToken
            var hashes: [[String: String]] = []
            for direction in ["there", "back"] {
                await server.end(SIGTERM)
                let isThere = direction == "there"
                let outcome = try await isThere ? scene.there("--json") : scene.back("--json")
                #expect(outcome.exitCode == 0, "\(outcome.errors)")
                guard outcome.exitCode == 0 else { return }
                hashes.append(try MigrateScene.hashes(outcome))
                #expect(scene.has("tidemark.sqlite") != isThere && scene.has("postgresql.json") == isThere)
                #expect(!scene.has("move.unfinished") && !scene.has("tidemark.sqlite.unfinished"))
                try await server.start()
                let database = backup.database(direction)
                await expect(.changeTokenExpired) {
                    _ = try await database.recordZoneChanges(inZoneWith: backup.zone, since: token)
                }
                #expect(try await backup.names() == names)
                token = try await database.recordZoneChanges(inZoneWith: backup.zone, since: nil).changeToken
                let verified = try await backup.verify()
                #expect(verified.exitCode == 0 && verified.output.contains("3 intact"), "\(verified.errors)")
                let id = CKRecord.ID(recordName: "file-2", zoneID: backup.zone)
                let file = try await database.record(for: id)
                #expect(try file.file("file") == Data(contentsOf: backup.files.url("file-2")))
                // The numbers of what is stored are those of before.
                let usage = try await server.administer(
                    ["usage", "--container", BackupScene.containerID, "--json"]
                )
                #expect(usage.filter(\.isNumber).count > 5 && Self.records(usage) == Self.records(before))
                // And it goes on: what is saved now moves as well.
                try await database.save(backup.record("after \(direction)"))
                try await database.deleteRecord(
                    withID: .init(recordName: "after \(direction)", zoneID: backup.zone)
                )
            }
            // Rows that nobody changed are the same bytes.
            for table in ["share", "user", "hold", "field", "record_type", "secret", "service_key", "asset"] {
                #expect(hashes[0][table] == hashes[1][table], "\(table)")
            }
            #expect(
                try await scene.query(
                    "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'tidemark_moved_%'"
                ) == "1"
            )
            #expect(scene.has("tidemark.sqlite.moved"))
        }
    }

    private static func records(_ usage: String) -> [Substring] {
        usage.split(separator: "\n").filter { $0.contains("\"records\"") || $0.contains("\"assets\"") }
    }

    @Test(arguments: [true, false])
    func `a move that is killed again and again continues until it is whole`(isThere: Bool) async throws {
        try await MigrateScene.run { scene in
            try await scene.fill(records: 2_000)
            let names = try await scene.backup.names()
            await scene.backup.server.end(SIGTERM)
            if !isThere {
                let outcome = try await scene.there()
                #expect(outcome.exitCode == 0, "\(outcome.errors)")
            }
            let arguments =
                isThere
                ? ["--from", scene.data, "--to", scene.url] : ["--from", scene.url, "--to", scene.data]
            // A kill may come after the end of the move, and before that of the process.
            var isComplete: Bool {
                scene.has(isThere ? "tidemark.sqlite.moved" : "tidemark.sqlite")
                    && !scene.has("move.unfinished")
            }
            var kills = 0
            var seed = SeededGenerator.fromEnvironment()
            while !isComplete, kills < 200 {
                let move = try ChildProcess(ChildProcess.tidemark, ["migrate"] + arguments)
                // Later each time, so that it gets further.
                let milliseconds = 40 + kills * 40 + Int.random(in: 0..<150, using: &seed)
                try await Task.sleep(for: .milliseconds(milliseconds))
                move.signal(SIGKILL)
                let outcome = await move.outcome()
                guard outcome.exitCode == SIGKILL else {
                    #expect(outcome.exitCode == 0, "\(outcome.errors), seed \(seed.seed)")
                    break
                }
                kills += 1
                if scene.has("move.unfinished") {
                    // Nobody serves half a store.
                    let served = try await ChildProcess.tidemark(
                        "serve",
                        "--data",
                        scene.data,
                        "--listen",
                        "127.0.0.1:0"
                    )
                    #expect(
                        served.exitCode == 65 && served.errors.contains("tidemark migrate"),
                        "\(served.errors)"
                    )
                }
            }
            #expect(kills > 2 && isComplete, "\(kills), seed \(seed.seed)")
            let again = try await ChildProcess.run(ChildProcess.tidemark, ["migrate"] + arguments)
            #expect(
                again.exitCode == (isThere ? 64 : 65) && again.errors.contains("the move is complete"),
                "\(again.errors)"
            )
            try await scene.backup.server.start()
            #expect(try await scene.backup.names() == names, "seed \(seed.seed)")
        }
    }

    @Test
    func `a row that changed between two runs is found, and the move begins again`() async throws {
        try await MigrateScene.run { scene in
            try await scene.fill(records: 1_000)
            let names = try await scene.backup.names()
            await scene.backup.server.end(SIGTERM)
            try await scene.holdMove(at: "tombstone")
            let move = try scene.start("--from", scene.data, "--to", scene.url)
            while try await !scene.isMoveHeld() { try await Task.sleep(for: .milliseconds(50)) }
            move.signal(SIGKILL)
            _ = await move.outcome()
            try await scene.endHold()
            #expect(try await scene.query("SELECT count(*) > 500 FROM tidemark.record") == "t")
            try #require(scene.has("move.unfinished"))
            _ = try await scene.query(
                "UPDATE tidemark.record SET modified_ms = modified_ms + 1 WHERE name = 'r77'"
            )
            let found = try await scene.there()
            #expect(found.exitCode == 65 && found.errors.contains("in the table record"), "\(found.errors)")
            let again = try await scene.there("--restart")
            #expect(again.exitCode == 0, "\(again.errors)")
            try await scene.backup.server.start()
            #expect(try await scene.backup.names() == names)
        }
    }

    @Test
    func `a reason against a move is said before anything is changed`() async throws {
        try await MigrateScene.run { scene in
            try await scene.fill(records: 20)
            let running = try await scene.there()
            #expect(running.exitCode == 69 && running.errors.contains("Stop it first"), "\(running.errors)")
            await scene.backup.server.end(SIGTERM)
            let counted = try await scene.there("--dry-run")
            #expect(
                counted.exitCode == 0 && counted.output.contains("Nothing was changed"),
                "\(counted.errors)"
            )
            #expect(!scene.has("move.unfinished") && scene.has("tidemark.sqlite"))
            #expect(try await scene.query("SELECT to_regnamespace('tidemark') IS NULL") == "t")
            for arguments in [
                ["--from", scene.data, "--to", scene.data], ["--from", scene.url, "--to", scene.url],
            ] {
                let outcome = try await ChildProcess.run(ChildProcess.tidemark, ["migrate"] + arguments)
                #expect(
                    outcome.exitCode == 64 && outcome.errors.contains("postgresql://"),
                    "\(outcome.errors)"
                )
            }
            let absent = try await ChildProcess.tidemark(
                "migrate",
                "--from",
                scene.backup.path("none"),
                "--to",
                scene.url
            )
            #expect(absent.exitCode == 66, "\(absent.errors)")
            _ = try await scene.query("CREATE SCHEMA tidemark")
            let taken = try await scene.there()
            #expect(taken.exitCode == 65 && taken.errors.contains("overwrites nothing"), "\(taken.errors)")
            #expect(!scene.has("move.unfinished"))
            _ = try await scene.query("DROP SCHEMA tidemark")
            let moved = try await scene.there()
            #expect(moved.exitCode == 0 && moved.output.contains("Start the server with"), "\(moved.errors)")
            let twice = try await scene.there()
            #expect(twice.exitCode == 64 && twice.errors.contains("already"), "\(twice.errors)")
            let other = scene.backup.path("other")
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
            try "x".write(toFile: other + "/file", atomically: false, encoding: .utf8)
            let full = try await scene.back(to: other)
            #expect(full.exitCode == 65 && full.errors.contains("neither empty"), "\(full.errors)")
            try await scene.backup.server.start()
            let served = try await scene.back(to: scene.backup.path("new"))
            #expect(served.exitCode == 69 && served.errors.contains("serves"), "\(served.errors)")
            #expect(!FileManager.default.fileExists(atPath: scene.backup.path("new") + "/move.unfinished"))
        }
    }

    @Test
    func `a store moves out of PostgreSQL into a new folder, without its files`() async throws {
        try await MigrateScene.run { scene in
            try await scene.fill(records: 50)
            await scene.backup.server.end(SIGTERM)
            #expect(try await scene.there().exitCode == 0)
            let new = scene.backup.path("new")
            let outcome = try await scene.back(to: new)
            #expect(
                outcome.exitCode == 0 && outcome.output.contains("3 assets of 600000 bytes"),
                "\(outcome.errors)"
            )
            let missing = try await ChildProcess.tidemark("assets", "verify", "--data", new)
            #expect(missing.exitCode == 65, "\(missing.errors)")
            try FileManager.default.copyItem(atPath: scene.data + "/assets", toPath: new + "/assets")
            let whole = try await ChildProcess.tidemark("assets", "verify", "--data", new)
            #expect(whole.exitCode == 0, "\(whole.errors)")
            // The old folder's database has no store any more; nobody makes another one there by accident.
            let left = try await ChildProcess.tidemark("usage", "--data", scene.data)
            #expect(left.exitCode == 66, "\(left.errors)")
            try FileManager.default.removeItem(atPath: scene.data)
            try FileManager.default.moveItem(atPath: new, toPath: scene.data)
            try await scene.backup.server.start()
        }
    }
}
