import CloudKit
import Foundation
import TestSupport
import Testing

/// What `tidemark backup` and `tidemark restore` refuse, and what is left when they are killed or
/// the disk is full.
@Suite(.timeLimit(.minutes(10)))
struct BackupCommandTests {
    @Test
    func `nothing is overwritten, and only a backup is restored`() async throws {
        try await BackupScene.run { scene in
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            let backup = try scene.tree("backup")
            #expect(
                Set(["backup.json", "tidemark.sqlite", "tls/ca.pem", "tls/ca-key.pem"]).isSubset(
                    of: backup.keys
                )
            )
            #expect(backup["lock"] == nil && backup["backup.unfinished"] == nil)
            let refused = try await scene.backUp(to: "backup")
            #expect(refused.exitCode == 65 && refused.errors.contains("is not empty"))
            let none = try await ChildProcess.tidemark(
                "backup",
                "--data",
                scene.files.folder.path,
                "--to",
                scene.path("none")
            )
            #expect(none.exitCode == 66 && none.errors.contains("is not a data folder"))
            #expect(!FileManager.default.fileExists(atPath: scene.path("none")))
            let overData = try await scene.restore("backup", to: "data")
            #expect(overData.exitCode == 65 && overData.errors.contains("is not empty"))
            let noBackup = try await scene.restore("data", to: "new")
            #expect(noBackup.exitCode == 65 && noBackup.errors.contains("is not a backup"))
            #expect(try scene.tree("backup") == backup)
            for command in [["backup"], ["restore"], ["backup", "--to"]] {
                #expect(try await ChildProcess.run(ChildProcess.tidemark, command).exitCode == 64)
            }
            for command in ["backup", "restore"] {
                let help = try await ChildProcess.tidemark(command, "--help")
                #expect(help.exitCode == 0 && help.output.contains("tidemark \(command) --"))
            }
        }
    }

    @Test
    func `no command serves or changes a backup, nor a database that was copied out of it`() async throws {
        try await BackupScene.run { scene in
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            let backup = try scene.tree("backup")
            let byHand = scene.path("by-hand")
            try FileManager.default.createDirectory(atPath: byHand, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: scene.path("backup/tidemark.sqlite"),
                toPath: byHand + "/tidemark.sqlite"
            )
            for data in [scene.path("backup"), byHand] {
                for command in [
                    ["serve", "--listen", "127.0.0.1:0"], ["usage"], ["container", "create", "iCloud.other"],
                    ["assets", "verify"], ["backup", "--to", scene.path("other")],
                ] {
                    let outcome = try await ChildProcess.run(
                        ChildProcess.tidemark,
                        command + ["--data", data]
                    )
                    #expect(outcome.exitCode == 65, "\(command)")
                    #expect(outcome.errors.contains("tidemark restore --from"), "\(outcome.errors)")
                }
            }
            #expect(try scene.tree("backup") == backup)
        }
    }

    @Test
    func `what is spoilt in a backup is found when it is restored`() async throws {
        try await BackupScene.run { scene in
            for number in 1...2 {
                let file = try scene.files.asset("file-\(number)", bytes: 100_000, seed: UInt64(number))
                try await scene.database().save(scene.record("file-\(number)", ["file": file]))
            }
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            let assets = try scene.tree("backup").keys.filter { $0.hasPrefix("assets/") && $0.count > 10 }
                .sorted()
            #expect(assets.count == 2)
            try Self.spoil(scene.path("backup/" + assets[0]))
            let lacking = try await scene.restore("backup", to: "lacking")
            #expect(lacking.exitCode == 65)
            #expect(lacking.output.contains(assets[0]) && !lacking.output.contains(assets[1]))
            let verified = try await ChildProcess.tidemark(
                "assets",
                "verify",
                "--data",
                scene.path("lacking")
            )
            #expect(verified.exitCode == 65 && verified.output.contains("2 assets, 200000 bytes: 1 intact"))
            try Self.spoil(scene.path("backup/tidemark.sqlite"))
            let spoilt = try await scene.restore("backup", to: "spoilt")
            #expect(spoilt.exitCode == 65 && spoilt.errors.contains("has changed since the backup was made"))
            #expect(!FileManager.default.fileExists(atPath: scene.path("spoilt")))
            // Without its database, without its folder of keys, and with a link to nowhere in its place.
            let files = FileManager.default
            try files.removeItem(atPath: scene.path("backup/tidemark.sqlite"))
            let halved = try await scene.restore("backup", to: "halved")
            #expect(halved.exitCode == 65 && halved.errors.contains("backup/tidemark.sqlite"), "\(halved)")
            #expect(try await scene.backUp(to: "second").exitCode == 0)
            try files.removeItem(atPath: scene.path("second/tls"))
            for _ in 0..<2 {
                let keyless = try await scene.restore("second", to: "keyless")
                #expect(keyless.exitCode == 65 && keyless.errors.contains("second/tls/"), "\(keyless)")
                #expect(!files.fileExists(atPath: scene.path("keyless")))
                try? files.createSymbolicLink(
                    atPath: scene.path("second/tls"),
                    withDestinationPath: scene.path("nowhere")
                )
            }
        }
    }

    @Test
    func `an asset that the server has lost is named, and the backup has everything else`() async throws {
        try await BackupScene.run { scene in
            for number in 1...2 {
                let file = try scene.files.asset("file-\(number)", bytes: 100_000, seed: UInt64(number))
                try await scene.database().save(scene.record("file-\(number)", ["file": file]))
            }
            let assets = try scene.tree("data").keys.filter { $0.hasPrefix("assets/") && $0.count > 10 }
                .sorted()
            try FileManager.default.removeItem(atPath: scene.path("data/" + assets[1]))
            let outcome = try await scene.backUp(to: "backup")
            #expect(outcome.exitCode == 65)
            #expect(outcome.output.contains(assets[1] + "  missing"), "\(outcome.output)")
            let restored = try await scene.restore("backup", to: "restored")
            #expect(restored.exitCode == 65 && restored.output.contains(assets[1]))
            try await scene.loseAndRestoreDamaged("backup")
            #expect(try await scene.names() == ["file-1", "file-2"])
        }
    }

    @Test
    func `what the server removes while it is copied is not missed`() async throws {
        try await BackupScene.run(settings: ["--set", "asset_grace_s=1"]) { scene in
            let database = scene.database()
            for (number, bytes) in [100_000_000, 100_000].enumerated() {
                let file = try scene.files.asset("file-\(number)", bytes: bytes, seed: UInt64(number + 1))
                try await database.save(scene.record("file-\(number)", ["file": file]))
            }
            let backup = try await Self.backupStopped(scene, before: "assets/02/2")
            // The copy of the database names it; from here on nothing else does.
            let id = CKRecord.ID(recordName: "file-1", zoneID: scene.zone)
            try await database.deleteRecord(withID: id)
            try await database.save(scene.record("later"))
            try await Task.sleep(for: .seconds(2))
            #expect(await scene.server.end(SIGTERM) == 0)
            try await scene.server.start()
            await eventually {
                !FileManager.default.fileExists(atPath: scene.server.dataPath + "/assets/02/2")
            }
            backup.signal(SIGCONT)
            let outcome = await backup.outcome()
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            try await scene.loseAndRestore("backup")
            #expect(try await scene.names() == ["file-0", "later"], "it was copied once more")
            let verified = try await scene.verify()
            #expect(verified.exitCode == 0 && verified.output.hasPrefix("1 assets, 100000000 bytes"))
        }
    }

    /// Stops a backup while it copies assets, before it gets to one of them: on a busy machine that
    /// takes several backups.
    private static func backupStopped(
        _ scene: BackupScene,
        before asset: String
    ) async throws -> ChildProcess {
        let target = scene.path("backup")
        for _ in 0..<50 {
            let backup = try ChildProcess(
                ChildProcess.tidemark,
                ["backup", "--data", scene.server.dataPath, "--to", target]
            )
            while !FileManager.default.fileExists(atPath: target + "/assets") {
                try await Task.sleep(for: .milliseconds(1))
            }
            backup.signal(SIGSTOP)
            if !FileManager.default.fileExists(atPath: "\(target)/\(asset)") { return backup }
            backup.signal(SIGKILL)
            _ = await backup.outcome()
            try FileManager.default.removeItem(atPath: target)
        }
        throw NeverStoppedInTime()
    }

    private struct NeverStoppedInTime: Error {}

    private static func spoil(_ path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 5_000)
        try file.write(contentsOf: Data("spoilt".utf8))
        try file.close()
    }

    // MARK: Killed

    @Test
    func `a backup that is killed is none, and says so`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("BackupCommandTests: SEED=\(generator.seed)")
        try await BackupScene.run { scene in
            try await Self.load(scene)
            var unfinished = 0
            for round in 0..<12 {
                let name = "backup-\(round)"
                try await Self.kill(
                    ["backup", "--data", scene.server.dataPath, "--to", scene.path(name)],
                    after: .microseconds(Int.random(in: 0...60_000, using: &generator)),
                    since: scene.path(name)
                )
                let isComplete = FileManager.default.fileExists(atPath: scene.path(name + "/backup.json"))
                let restored = try await scene.restore(name, to: "restored-\(round)")
                if isComplete {
                    #expect(restored.exitCode == 0, "\(restored.errors)")
                    continue
                }
                unfinished += 1
                #expect(restored.exitCode == 65)
                #expect(!FileManager.default.fileExists(atPath: scene.path("restored-\(round)")))
                // Killed before its first file, it is an empty folder.
                guard FileManager.default.fileExists(atPath: scene.path(name + "/backup.unfinished")) else {
                    continue
                }
                #expect(restored.errors.contains("is incomplete"), "\(restored.errors)")
                #expect(try await scene.backUp(to: name).exitCode == 65)
                let served = try await ChildProcess.tidemark("usage", "--data", scene.path(name))
                #expect(served.exitCode == 65 && served.errors.contains("tidemark restore"))
            }
            #expect(unfinished > 0)
        }
    }

    @Test
    func `a restore that is killed leaves what nobody serves, until it is run again`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("BackupCommandTests: SEED=\(generator.seed)")
        try await BackupScene.run { scene in
            try await Self.load(scene)
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            let old = try await scene.epochs("backup")
            var unfinished = 0
            for round in 0..<12 {
                let name = "restored-\(round)"
                try await Self.kill(
                    ["restore", "--from", scene.path("backup"), "--data", scene.path(name)],
                    after: .microseconds(Int.random(in: 0...60_000, using: &generator)),
                    since: scene.path(name)
                )
                if FileManager.default.fileExists(atPath: scene.path(name + "/restore.unfinished")) {
                    unfinished += 1
                    for command in [["serve", "--listen", "127.0.0.1:0"], ["container", "list"]] {
                        let served = try await ChildProcess.run(
                            ChildProcess.tidemark,
                            command + ["--data", scene.path(name)]
                        )
                        #expect(served.exitCode == 65)
                        #expect(served.errors.contains("is not complete"), "\(served.errors)")
                    }
                }
                if !FileManager.default.fileExists(atPath: scene.path(name + "/tidemark.sqlite"))
                    || FileManager.default.fileExists(atPath: scene.path(name + "/restore.unfinished"))
                {
                    let again = try await scene.restore("backup", to: name)
                    #expect(again.exitCode == 0, "\(again.errors)")
                }
                #expect(zip(try await scene.epochs(name), old).allSatisfy { $0 != $1 })
                let verified = try await ChildProcess.tidemark("assets", "verify", "--data", scene.path(name))
                #expect(
                    verified.exitCode == 0 && verified.output.hasPrefix("20 assets"),
                    "\(verified.output)"
                )
            }
            #expect(unfinished > 0)
        }
    }

    /// Some records, and files.
    private static func load(_ scene: BackupScene) async throws {
        let database = scene.database()
        let notes = (0..<80).map { scene.record("note-\($0)", ["bytes": Data(count: 20_000)]) }
        _ = try await database.modifyRecords(saving: notes, deleting: [])
        for number in 1...20 {
            let file = try scene.files.asset("file-\(number)", bytes: 400_000, seed: UInt64(number))
            try await database.save(scene.record("file-\(number)", ["file": file]))
        }
    }

    /// Kills a command some time after it has made a folder.
    private static func kill(_ arguments: [String], after delay: Duration, since path: String) async throws {
        let process = try ChildProcess(ChildProcess.tidemark, arguments)
        let clock = ContinuousClock()
        let start = clock.now
        while !FileManager.default.fileExists(atPath: path), clock.now - start < .seconds(600) {
            try await Task.sleep(for: .milliseconds(1))
        }
        try await Task.sleep(for: delay)
        process.signal(SIGKILL)
        _ = await process.outcome()
    }

    // MARK: Full disks

    /// What of a disk is scarce.
    enum Shortage: String, CaseIterable, Sendable {
        /// It is too small, which is seen before anything is written.
        case bytes = "mount -t tmpfs -o size=6m tmpfs %"
        /// It has room, but not for so many files: writing fails in the middle.
        case files = "mount -t tmpfs -o size=64m,nr_inodes=9 tmpfs %"
        /// Files may not become so large, where nobody may mount.
        case fileSize = "trap '' XFSZ; ulimit -f 600"
    }

    @Test(arguments: Shortage.allCases)
    func `a disk that is too small, or becomes full, is left as it was, and the command says what to do`(
        shortage: Shortage
    ) async throws {
        try await BackupScene.run { scene in
            try await Self.load(scene)
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            let commands = [
                ["backup", "--data", scene.server.dataPath, "--to", scene.path("small/new")],
                ["restore", "--from", scene.path("backup"), "--data", scene.path("small/new")],
            ]
            for command in commands {
                let small = scene.path("small")
                try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: true)
                let limit = shortage.rawValue.replacingOccurrences(of: "%", with: "'\(small)'")
                // What is left in the folder is seen from within.
                let script = "\(limit) || exit 99; \"$@\"; code=$?; ls -A '\(small)'; exit $code"
                let words = shortage == .fileSize ? ["sh"] : ["unshare", "-Urm", "sh"]
                let outcome = try await ChildProcess.run(
                    URL(fileURLWithPath: "/usr/bin/env"),
                    words + ["-c", script, "sh", ChildProcess.tidemark.path] + command
                )
                if shortage != .fileSize, outcome.exitCode == 99 || outcome.errors.contains("unshare:") {
                    print(
                        "BackupCommandTests: nobody may mount here (\(outcome.errors)); a bound on files stands in"
                    )
                    continue
                }
                #expect(outcome.exitCode == 73, "\(outcome.errors)")
                let text = shortage == .bytes ? "bytes left, and" : "is full"
                #expect(outcome.errors.contains(text), "\(outcome.errors)")
                #expect(outcome.output == "", "nothing is left")
            }
        }
    }
}

extension BackupScene {
    /// As `loseAndRestore`, of a backup that lacks an asset.
    fileprivate func loseAndRestoreDamaged(_ backup: String) async throws {
        await self.server.end(SIGKILL)
        try FileManager.default.removeItem(atPath: self.server.dataPath)
        #expect(try await self.restore(backup, to: "data").exitCode == 65)
        try await self.server.start()
    }
}
