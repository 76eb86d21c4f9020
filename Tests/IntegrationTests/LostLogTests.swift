import CloudKit
import Foundation
import TestSupport
import Testing

/// A killed server with files that then changed: the error of the next start, and the way on.
@Suite(.timeLimit(.minutes(10)))
struct LostLogTests {
    private static func url(_ scene: BackupScene, _ ending: String = "") -> URL {
        URL(fileURLWithPath: scene.server.dataPath + "/tidemark.sqlite" + ending)
    }

    private static func tidemark(
        _ scene: BackupScene,
        _ arguments: String...
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            arguments + ["--data", scene.server.dataPath]
        )
    }

    /// Kills the server when its log has saves that the file lacks.
    private static func kill(_ scene: BackupScene) async throws {
        // The file has what was before.
        #expect(await scene.server.end(SIGTERM) == 0)
        for round in 0..<50 {
            try await scene.server.start()
            let records = (0..<20).map { scene.record("r\(round)-\($0)", ["text": "x"]) }
            _ = try await scene.database().modifyRecords(saving: records, deleting: [])
            await scene.server.end(SIGKILL)
            let note = try Data(contentsOf: Self.url(scene, "-synced"))
            // The server may have made a checkpoint in the moment between.
            let copied = note.count >= 544 ? note.subdata(in: 520..<532) : Data()
            let isCopied = copied == note.subdata(in: 8..<16) + note.subdata(in: 20..<24)
            if !isCopied, try Data(contentsOf: Self.url(scene, "-wal")).count > 32 + 3 * 4_120 { return }
        }
        Issue.record("the server has always made a checkpoint before it was killed")
    }

    /// Expects that neither a server nor a command opens the store.
    private static func refused(_ scene: BackupScene, says words: [String]) async throws {
        let serve = ["serve", "--listen", "127.0.0.1:0"]
        for command in [serve, ["usage"], ["backup", "--to", scene.path("never")]] {
            let outcome = try await ChildProcess.run(
                ChildProcess.tidemark,
                command + ["--data", scene.server.dataPath]
            )
            #expect(outcome.exitCode == 65, "\(command): \(outcome.errors)")
            for word in words { #expect(outcome.errors.contains(word), "\(command): \(outcome.errors)") }
        }
        #expect(!FileManager.default.fileExists(atPath: scene.path("never/tidemark.sqlite")))
    }

    @Test func `a kill alone loses nothing, and is not refused`() async throws {
        try await BackupScene.run { scene in
            try await Self.kill(scene)
            let repair = try await Self.tidemark(scene, "repair")
            #expect(repair.exitCode == 0 && repair.output.contains("Nothing is missing"), "\(repair)")
            try await scene.server.start()
            #expect(try await scene.names().contains("r0-19"))
        }
    }

    @Test(arguments: ["cut", "bit", "gone", "empty", "header"])
    func `a log that lost synced commits is refused until an operator accepts that`(
        harm: String
    ) async throws {
        try await BackupScene.run { scene in
            try await Self.kill(scene)
            let url = Self.url(scene, "-wal")
            var bytes = try Data(contentsOf: url)
            let middle = 32 + (bytes.count - 32) / 4_120 / 2 * 4_120
            switch harm {
            case "cut": bytes = bytes.prefix(middle + 100)
            case "bit": bytes[middle + 1_000] ^= 4
            case "empty": bytes = Data()
            case "header": bytes[17] ^= 1
            default: break
            }
            if harm == "gone" {
                try FileManager.default.removeItem(at: url)
            } else {
                try bytes.write(to: url)
            }
            let command = "tidemark repair --accept-loss --data \(scene.server.dataPath)"
            try await Self.refused(scene, says: ["acknowledged saves are missing", command, "were synced"])
            let refused = try await Self.tidemark(scene, "repair")
            #expect(refused.exitCode == 65 && refused.errors.contains("--accept-loss"), "\(refused)")
            if harm != "gone" { #expect(try Data(contentsOf: url) == bytes, "nothing was changed") }
            let repaired = try await Self.tidemark(scene, "repair", "--accept-loss")
            #expect(repaired.exitCode == 0, "\(repaired)")
            try await scene.server.start()
            _ = try await scene.database("second").save(scene.record("after"))
            #expect(try await scene.names().contains("after"))
        }
    }

    @Test func `a new authority beside an earlier store is warned of`() async throws {
        try await BackupScene.run { scene in
            #expect(await scene.server.end(SIGTERM) == 0)
            try FileManager.default.removeItem(atPath: scene.server.dataPath + "/tls")
            try await scene.server.start()
            #expect(scene.server.log().contains("made a new authority beside an earlier store"))
        }
    }

    @Test func `a damaged page without which no store opens is said, with the way out`() async throws {
        try await BackupScene.run { scene in
            #expect(await scene.server.end(SIGTERM) == 0)
            let url = Self.url(scene)
            let whole = try Data(contentsOf: url)
            for offset in [20, 100, 4_090] {
                var bytes = whole
                bytes[offset] ^= 1
                try bytes.write(to: url)
                try await Self.refused(scene, says: ["damaged", "tidemark restore"])
            }
            try whole.write(to: url)
            try await scene.server.start()
        }
    }
}
