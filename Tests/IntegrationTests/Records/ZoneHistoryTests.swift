import CloudKit
import Foundation
import Synchronization
import TestSupport
import Testing

/// `tidemark zone` and `tidemark container history` beside the server that serves the folder.
@Suite(.timeLimit(.minutes(10)))
struct ZoneHistoryTests {
    /// A device that keeps what its engine fetches.
    private final class Follower: CKSyncEngineDelegate {
        let records = Mutex<[CKRecord.ID: CKRecord]>([:])

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            guard case .fetchedRecordZoneChanges(let event) = event else { return }
            self.records.withLock { records in
                for modification in event.modifications {
                    records[modification.record.recordID] = modification.record
                }
                for deletion in event.deletions { records[deletion.recordID] = nil }
            }
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext,
            syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }

        func engine(_ database: CKDatabase) -> CKSyncEngine {
            var configuration = CKSyncEngine.Configuration(
                database: database,
                stateSerialization: nil,
                delegate: self
            )
            configuration.automaticallySync = false
            return CKSyncEngine(configuration)
        }

        var count: Int { self.records.withLock { $0.count } }
    }

    private static func keepHistory(_ scene: BackupScene, days: Int = 30) async throws {
        let text = try await scene.server.administer(
            ["container", "history", BackupScene.containerID, "--days", "\(days)", "--yes"]
        )
        #expect(text.contains("keeps a history of \(days) days"))
    }

    private static func zone(
        _ scene: BackupScene,
        _ command: String,
        _ arguments: [String] = [],
        user: String? = "alice"
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            ["zone", command] + scene.place(user: user) + ["--zone", "desk"] + arguments
        )
    }

    /// Undoes, and returns the object that the command prints.
    private static func undo(_ scene: BackupScene, _ arguments: [String]) async throws -> [String: Any] {
        let outcome = try await Self.zone(scene, "undo", arguments + ["--yes", "--json"])
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        return try #require(object as? [String: Any])
    }

    private static func modify(
        _ database: CKDatabase,
        saving records: [CKRecord] = [],
        deleting ids: [CKRecord.ID] = []
    ) async throws {
        for start in stride(from: 0, to: max(records.count, ids.count), by: 250) {
            let (saves, deletes) = try await database.modifyRecords(
                saving: Array(records.dropFirst(start).prefix(250)),
                deleting: Array(ids.dropFirst(start).prefix(250))
            )
            for result in saves.values { _ = try result.get() }
            for result in deletes.values { try result.get() }
        }
    }

    @Test
    func `a thousand deleted records with files come back, and a second device follows`() async throws {
        try await BackupScene.run { scene in
            try await Self.keepHistory(scene)
            let count = 1_000
            let database = scene.database()
            let records = try (0..<count).map { number in
                let file = try scene.files.asset("f\(number)", bytes: 700 + number, seed: UInt64(number))
                return scene.record("n\(number)", ["number": number, "file": file])
            }
            try await Self.modify(database, saving: records)
            let follower = Follower()
            let engine = follower.engine(scene.database("there", installation: "there"))
            try await engine.fetchChanges()
            #expect(follower.count == count)
            let made = follower.records.withLock { $0 }

            try await Self.modify(database, deleting: records.map(\.recordID))
            try await engine.fetchChanges()
            #expect(follower.count == 0)
            let log = try await Self.zone(scene, "log", ["--json"])
            let changes = log.objects.compactMap { $0["change"] as? String }
            #expect(changes.count { $0 == "created" } == count && changes.count { $0 == "deleted" } == count)
            let first = try #require(log.objects.first { $0["change"] as? String == "deleted" })
            let target = try #require(first["position"] as? Int) - 1
            #expect((first["installation"] as? String)?.count == 32)

            let dry = try await Self.zone(scene, "undo", ["--to", "\(target)", "--dry-run"])
            #expect(dry.output == "Would undo: records: \(count) made again.\n", "\(dry.output)\(dry.errors)")
            #expect(try await scene.names().isEmpty)
            let unasked = try await Self.zone(scene, "undo", ["--to", "\(target)"])
            #expect(unasked.exitCode == 64 && unasked.errors.contains("\(count) made again"))
            let undone = try await Self.undo(scene, ["--to", "\(target)"])
            #expect(undone["created"] as? Int == count && undone["deleted"] as? Int == 0)

            try await engine.fetchChanges()
            let fetched = follower.records.withLock { $0 }
            #expect(fetched.count == count)
            for number in 0..<count {
                let record = try #require(fetched[scene.record("n\(number)").recordID])
                #expect(record["number"] as? Int == number)
                let url = scene.files.url("f\(number)")
                #expect(try record.file("file") == Data(contentsOf: url), "n\(number)")
                #expect(record.creationDate == made[record.recordID]?.creationDate)
            }
            let again = try await Self.undo(scene, ["--to", "\(target)"])
            #expect(again["created"] as? Int == 0 && again["unchanged"] as? Int == count)
            #expect(try await scene.verify().exitCode == 0)

            let before = try #require(undone["positionBefore"] as? Int)
            let back = try await Self.undo(scene, ["--to", "\(before)"])
            #expect(back["deleted"] as? Int == count)
            try await engine.fetchChanges()
            #expect(follower.count == 0)
        }
    }

    @Test
    func `what one installation did is undone, and what another changed later stays`() async throws {
        try await BackupScene.run { scene in
            try await Self.keepHistory(scene)
            let good = scene.database("good", installation: "good")
            let bad = scene.database("bad", installation: "bad")
            for name in ["a", "b", "c"] { _ = try await good.save(scene.record(name, ["text": "good"])) }
            func change(_ name: String, _ text: String, _ database: CKDatabase) async throws {
                let record = try await database.record(for: scene.record(name).recordID)
                record["text"] = text
                _ = try await database.save(record)
            }
            try await change("a", "bad", bad)
            try await change("b", "bad", bad)
            _ = try await bad.save(scene.record("d", ["text": "bad"]))
            try await change("b", "better", good)
            let log = try await Self.zone(scene, "log", ["--json"])
            #expect(log.objects.count == 7)
            let broken = try #require(log.objects[3]["installation"] as? String)
            #expect(broken != log.objects[0]["installation"] as? String)
            let target = try #require(log.objects[2]["position"] as? Int)
            let by = ["--to", "\(target)", "--by", broken]

            let diff = try await Self.zone(scene, "diff", by)
            #expect(diff.exitCode == 0, "\(diff.errors)")
            let lines = diff.output.split(separator: "\n").map(String.init)
            #expect(lines[0] == "~ Note a: text" && lines[2] == "- Note d", "\(lines)")
            #expect(lines[1] == "= Note b: changed later by alice", "\(lines)")
            #expect(lines[3] == "Records: 1 changed back, 1 deleted, 1 kept as others left them.")

            func texts() async throws -> [String: String] {
                var texts: [String: String] = [:]
                for name in try await scene.names() {
                    let record = try await scene.database().record(for: scene.record(name).recordID)
                    texts[name] = record["text"] as? String
                }
                return texts
            }
            let listener = try scene.listener(in: TemporaryDirectory(), "--zone", "desk", "--json")
            try await listener.says("subscribed")
            let undone = try await Self.undo(scene, by)
            _ = try await listener.lines(1)
            #expect(undone["changed"] as? Int == 1 && undone["deleted"] as? Int == 1)
            #expect(undone["keptRecords"] as? [String] == ["b"])
            #expect(try await texts() == ["a": "good", "b": "better", "c": "good"])
            let all = try await Self.undo(scene, by + ["--override-later"])
            #expect(all["changed"] as? Int == 1 && all["kept"] as? Int == 0)
            #expect(try await texts() == ["a": "good", "b": "good", "c": "good"])
            let record = try await Self.zone(scene, "log", ["--record", "b", "--json"])
            #expect(
                record.objects.compactMap { $0["change"] as? String }.suffix(2) == ["updated", "updated"]
            )
        }
    }

    @Test
    func `a history outlives a backup and a restore`() async throws {
        try await BackupScene.run { scene in
            try await Self.keepHistory(scene)
            let asset = try scene.files.asset("f", bytes: 100_000)
            _ = try await scene.database().save(scene.record("a", ["file": asset]))
            let position = try #require(
                try await Self.zone(scene, "log", ["--json"]).objects.last?["position"] as? Int
            )
            try await Self.modify(scene.database(), deleting: [scene.record("a").recordID])
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            try await scene.loseAndRestore("backup")
            let undone = try await Self.undo(scene, ["--to", "\(position)"])
            #expect(undone["created"] as? Int == 1)
            let record = try await scene.database("other").record(for: scene.record("a").recordID)
            #expect(try record.file("file") == Data(contentsOf: scene.files.url("f")))
        }
    }

    @Test
    func `what cannot be told is refused, with what to do`() async throws {
        try await BackupScene.run { scene in
            _ = try await scene.database().save(scene.record("a"))
            let none = try await Self.zone(scene, "log")
            #expect(none.exitCode == 65 && none.errors.contains("container history"), "\(none.errors)")
            try await Self.keepHistory(scene)
            _ = try await scene.database().save(scene.record("b"))
            let refusals: [(String, [String], Int32, String)] = [
                ("undo", ["--to", "1", "--yes"], 65, "does not go back to the position 1"),
                ("undo", ["--to", "2h", "--yes"], 65, "It begins at"),
                ("diff", ["--to", "2020-01-01T00:00:00Z"], 65, "restore a backup"),
                ("undo", ["--to", "yesterday"], 64, "--to"), ("diff", [], 64, "--to"),
                ("diff", ["--to", "0s", "--by", "nobody"], 65, "there is no user nobody"),
                ("undo", ["--to", "0s", "--database", "shared"], 64, "private"),
            ]
            for (command, arguments, code, text) in refusals {
                let outcome = try await Self.zone(scene, command, arguments)
                #expect(
                    outcome.exitCode == code && outcome.errors.contains(text),
                    "\(command) \(arguments): \(outcome.errors)"
                )
            }
            let nobody = try await Self.zone(scene, "undo", ["--to", "0s"], user: nil)
            #expect(nobody.exitCode == 64 && nobody.errors.contains("--as"), "\(nobody.errors)")
            let other = try await ChildProcess.run(
                ChildProcess.tidemark,
                ["zone", "log"] + scene.place() + ["--zone", "none"]
            )
            #expect(other.exitCode == 65 && other.errors.contains("Zone Not Found"), "\(other.errors)")
            let nothing = try await Self.zone(scene, "undo", ["--to", "0s", "--yes"])
            #expect(nothing.exitCode == 0 && nothing.output == "Nothing to undo.\n", "\(nothing.errors)")
            let fewer = try await ChildProcess.tidemark(
                "container",
                "history",
                BackupScene.containerID,
                "--days",
                "0",
                "--data",
                scene.server.dataPath
            )
            #expect(fewer.exitCode == 64 && fewer.errors.contains("--yes"), "\(fewer.errors)")
            let off = try await scene.server.administer(
                ["container", "history", BackupScene.containerID, "--days", "0", "--yes"]
            )
            #expect(off.contains("keeps no history"))
        }
    }
}
