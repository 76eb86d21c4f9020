import CloudKit
import Foundation
import TestSupport
import Testing

/// Backups through a pipe: what arrives, and what becomes of a stream that was cut or changed.
@Suite(.timeLimit(.minutes(10)))
struct BackupStreamTests {
    /// Runs a line of the shell, in which `$T` is `tidemark`.
    private func shell(_ scene: BackupScene, _ line: String) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            URL(fileURLWithPath: "/bin/bash"),
            ["-c", "set -o pipefail; cd \"$FOLDER\"; " + line],
            environment: ["T": ChildProcess.tidemark.path, "FOLDER": scene.folder]
        )
    }

    private func fill(_ scene: BackupScene, assets: Int = 3) async throws {
        for number in 1...assets {
            let file = try scene.files.asset("file-\(number)", bytes: 300_000, seed: UInt64(number))
            try await scene.database().save(scene.record("file-\(number)", ["file": file]))
        }
        let notes = (1...20).map { scene.record("note-\($0)", ["text": "note \($0)"]) }
        _ = try await scene.database().modifyRecords(saving: notes, deleting: [])
    }

    private func sent(_ scene: BackupScene) async throws -> Data {
        let outcome = try await self.shell(
            scene,
            "mkdir -p scratch && $T backup --data data --to - --scratch scratch > backup.tar && ls -A scratch"
        )
        #expect(outcome.exitCode == 0 && outcome.output == "", "\(outcome.errors)")
        return try Data(contentsOf: URL(fileURLWithPath: scene.path("backup.tar")))
    }

    @Test
    func `a pipe brings a store to another folder, and the archive is one for tar and sha256sum`()
        async throws
    {
        try await BackupScene.run { scene in
            try await self.fill(scene)
            let outcome = try await self.shell(
                scene,
                "$T backup --data data --to - | tee backup.tar | $T restore --from - --data restored"
            )
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            #expect(outcome.output.contains("Restored the backup of "))
            let names = try await scene.names()
            await scene.server.end(SIGKILL)
            let moved = try await self.shell(scene, "mv data old && mv restored data && ls -A data")
            #expect(!moved.output.contains("restore.") && !moved.output.contains("SHA256SUMS"))
            try await scene.server.start()
            #expect(try await scene.names() == names && names.count == 23)
            let verified = try await scene.verify()
            #expect(verified.exitCode == 0 && verified.output.hasPrefix("3 assets, 900000 bytes: 3 intact"))

            // By hand, the archive is the folder of a backup.
            let listed = try await self.shell(scene, "tar tf backup.tar")
            let paths = listed.output.split(separator: "\n")
            #expect(paths.first == "stream.json" && paths.last == "SHA256SUMS")
            #expect(paths.contains("tls/ca-key.pem") && paths.filter { $0.hasPrefix("assets/") }.count == 3)
            let byHand = try await self.shell(
                scene,
                """
                mkdir backup && tar xf backup.tar -C backup && (cd backup && sha256sum --quiet -c SHA256SUMS) \
                && $T restore --from backup --data by-hand
                """
            )
            #expect(byHand.exitCode == 0, "\(byHand.errors)")
        }
    }

    @Test
    func `a stream that was cut anywhere leaves nothing`() async throws {
        try await BackupScene.run { scene in
            try await self.fill(scene, assets: 2)
            let whole = try await self.sent(scene)
            var lengths = Set(stride(from: 0, to: whole.count, by: whole.count / 12))
            // Around what comes last.
            lengths.formUnion([1, 511, 512, whole.count - 1_025, whole.count - 1_024, whole.count - 512])
            lengths.insert(whole.count - 1)
            for length in lengths.sorted() {
                try whole.prefix(length).write(to: URL(fileURLWithPath: scene.path("cut.tar")))
                let outcome = try await self.shell(scene, "$T restore --from - --data cut < cut.tar")
                #expect(outcome.exitCode == 65, "\(length): \(outcome.errors)")
                let isNone = length < 1_024
                #expect(
                    outcome.errors.contains(
                        isNone ? "is not a backup" : "the stream ends after \(length) bytes"
                    ),
                    "\(outcome.errors)"
                )
                #expect(!FileManager.default.fileExists(atPath: scene.path("cut")))
            }
        }
    }

    @Test
    func `a changed byte anywhere leaves nothing, and its file is named`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("BackupStreamTests: SEED=\(generator.seed)")
        try await BackupScene.run { scene in
            try await self.fill(scene, assets: 1)
            let whole = try await self.sent(scene)
            let database = try #require(whole.firstRange(of: Data("tidemark.sqlite\u{0}".utf8))).lowerBound
            let sums = try #require(whole.lastRange(of: Data("SHA256SUMS\u{0}".utf8))).lowerBound
            var offsets = [0, 600, 1_024 + 20_000, database, database + 20_000, sums, sums + 600]
            offsets += [whole.count - 1_024, whole.count - 1]
            for _ in 0..<10 { offsets.append(Int.random(in: whole.indices, using: &generator)) }
            for offset in offsets {
                var changed = whole
                changed[offset] ^= 0x20
                try changed.write(to: URL(fileURLWithPath: scene.path("changed.tar")))
                let outcome = try await self.shell(scene, "$T restore --from - --data changed < changed.tar")
                #expect(outcome.exitCode == 65, "\(offset): \(outcome.errors)")
                if offset == database + 20_000 {
                    #expect(outcome.errors.contains("tidemark.sqlite is not as it was sent"))
                }
                #expect(!FileManager.default.fileExists(atPath: scene.path("changed")))
            }
        }
    }

    @Test
    func `an asset that is damaged is named at both ends, and all else arrives`() async throws {
        try await BackupScene.run { scene in
            try await self.fill(scene)
            let assets = try scene.tree("data").keys.filter { $0.hasPrefix("assets/") && $0.count > 10 }
                .sorted()
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: scene.path("data/" + assets[0])))
            try file.seek(toOffset: 5_000)
            try file.write(contentsOf: Data("spoilt".utf8))
            try file.close()
            try FileManager.default.removeItem(atPath: scene.path("data/" + assets[1]))
            let sent = try await self.shell(scene, "$T backup --data data --to - > backup.tar")
            #expect(sent.exitCode == 65)
            #expect(sent.errors.contains(assets[0]) && sent.errors.contains(assets[1] + "  missing"))
            let restored = try await self.shell(scene, "$T restore --from - --data restored < backup.tar")
            #expect(restored.exitCode == 65, "\(restored.errors)")
            for asset in assets { #expect(restored.output.contains(asset) == (asset != assets[2])) }
            let tree = try scene.tree("restored")
            #expect(tree[assets[2]]?.count == 300_000 && tree[assets[0]] == nil && tree[assets[1]] == nil)
        }
    }

    @Test
    func `a reader that ends, a terminal and a full scratch folder are errors that say so`() async throws {
        try await BackupScene.run { scene in
            try await self.fill(scene)
            let broken = try await self.shell(
                scene,
                "$T backup --data data --to - | head -c 1000 > /dev/null"
            )
            #expect(broken.exitCode == 73)
            #expect(broken.errors.contains("has ended before it had all"), "\(broken.errors)")
            // `script` runs a command on a terminal.
            for command in ["backup --data data --to -", "restore --data new --from -"] {
                let terminal = try await self.shell(scene, "script -qec \"$T \(command)\" /dev/null")
                #expect(terminal.exitCode == 64 && terminal.output.contains("through a pipe"))
            }
            let full = try await self.shell(
                scene,
                "trap '' XFSZ; ulimit -f 100; $T backup --data data --to - --scratch . | cat > /dev/null"
            )
            #expect(full.exitCode == 73 && full.errors.contains("is full"), "\(full.errors)")
            let left = try await self.shell(scene, "ls -A | grep -c tidemark-backup")
            #expect(left.output == "0\n")
            let nowhere = try await self.shell(
                scene,
                "$T backup --data data --to - --scratch /nowhere | cat > /dev/null"
            )
            #expect(nowhere.exitCode == 73 && nowhere.errors.contains("--scratch DIR"))
        }
    }
}
