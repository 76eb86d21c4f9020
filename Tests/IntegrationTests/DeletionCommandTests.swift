import CloudKit
import Foundation
import TestSupport
import Testing

/// `tidemark user delete` and `tidemark container delete` beside the server that serves the folder.
@Suite(.timeLimit(.minutes(10)))
struct DeletionCommandTests {
    @Test
    func `a user is deleted while the server runs: connection, records and files go`() async throws {
        try await BackupScene.run { scene in
            let file = try scene.files.asset("file", bytes: 300_000, seed: 1)
            let database = scene.database()
            try await database.save(scene.record("file", ["file": file]))
            #expect(try scene.tree("data").keys.contains { $0.hasPrefix("assets/") && $0.count > 10 })

            let unasked = try await Self.run(
                scene,
                ["user", "delete", "alice", "--container", BackupScene.containerID]
            )
            #expect(unasked.exitCode == 64)
            // The file, the record of the user, and what these are.
            #expect(
                unasked.errors.contains("deletes alice for good: 2 records, 1 asset, "),
                "\(unasked.errors)"
            )
            #expect(unasked.errors.contains("--yes"))
            #expect(try await scene.names() == ["file"])

            let backup = scene.server.folder.path + "/earlier"
            try await scene.server.administer(["backup", "--to", backup])
            let deleted = try await Self.run(
                scene,
                ["user", "delete", "alice", "--container", BackupScene.containerID, "--yes"]
            )
            #expect(deleted.exitCode == 0, "\(deleted.errors)")
            let lines = "Backups that were made before still have it:\n  \(backup)\n"
            #expect(deleted.output.hasSuffix(lines), "\(deleted.output)")
            #expect(deleted.output.hasPrefix("Deleted alice: 2 records, 1 asset, "), "\(deleted.output)")
            let refusal = await #expect(throws: CKError.self) {
                try await database.record(for: scene.record("file").recordID)
            }
            #expect(refusal?.code == .notAuthenticated)
            let gone = try await Self.run(
                scene,
                ["user", "delete", "alice", "--container", BackupScene.containerID, "--yes"]
            )
            #expect(gone.exitCode == 65 && gone.errors.contains("there is no user alice"))

            // A server that starts sweeps at once; one that runs, within a minute.
            _ = await scene.server.end(SIGTERM)
            try await scene.server.start()
            let end = ContinuousClock.now + .seconds(60)
            while try scene.tree("data").keys.contains(where: { $0.hasPrefix("assets/") && $0.count > 10 }) {
                try #require(ContinuousClock.now < end, "the file is still there")
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    @Test
    func `a container is deleted with all in it, and its name is free`() async throws {
        try await BackupScene.run { scene in
            try await scene.database().save(scene.record("note", ["title": "x"]))
            let deleted = try await Self.run(
                scene,
                ["container", "delete", BackupScene.containerID, "--yes"]
            )
            #expect(deleted.exitCode == 0, "\(deleted.errors)")
            // The note, and the user's record in the private and the public database.
            #expect(deleted.output.hasPrefix("Deleted \(BackupScene.containerID): 3 records, 0 assets, "))
            #expect(try await scene.server.administer(["container", "list"]) == "")
            try await scene.server.administer(["container", "create", BackupScene.containerID])
            let users = try await scene.server.administer(
                ["user", "list", "--container", BackupScene.containerID, "--json"]
            )
            #expect(users == "[]" || users == "[\n\n]", "\(users)")
        }
    }

    private static func run(_ scene: BackupScene, _ arguments: [String]) async throws -> ChildProcess.Outcome
    {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            arguments + ["--data", scene.server.dataPath]
        )
    }
}
