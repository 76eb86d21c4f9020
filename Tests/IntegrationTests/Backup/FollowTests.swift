import CloudKit
import Foundation
import TestSupport
import Testing

/// `tidemark backup --follow`: states of a store under writes, each of which can be restored.
@Suite(.timeLimit(.minutes(10)))
struct FollowTests {
    /// Kills in one run; more with a variable.
    private static var kills: Int {
        ProcessInfo.processInfo.environment["TIDEMARK_FOLLOW_KILLS"].flatMap { Int($0) } ?? 6
    }

    private static func state(_ events: [FollowProcess.Event]) -> [FollowProcess.Event] {
        events.filter { $0.event == "base" || $0.event == "increment" }
    }

    @Test
    func `each state is restored as it was, and one that is asked for by time is the newest before it`()
        async throws
    {
        try await BackupScene.run { scene in
            let photo = try scene.files.asset("photo", bytes: 300_000, seed: 1)
            let follow = try FollowProcess(scene, to: "chain", "--metrics-file", scene.path("follow.prom"))
            let writers = try await scene.withWriters(3) { _ in
                await follow.wait(for: "increment", count: 2)
                try await scene.database().save(scene.record("photo", ["file": photo]))
                await follow.wait(for: "increment", count: 4)
            }
            let events = await follow.stop()
            let states = Self.state(events)
            #expect(states.first?.event == "base" && states.count >= 5)
            #expect(events.filter { $0.event == "failed" }.isEmpty)
            for index in Set([0, 1, states.count / 2, states.count - 2]) {
                // A moment before the next one.
                let next = states[index + 1].milliseconds(states[index + 1].time) - 1
                let at = Date(timeIntervalSince1970: Double(next) / 1_000)
                    .ISO8601Format(.init(includingFractionalSeconds: true))
                let outcome = try await scene.restoreChain("chain", to: "at-\(index)", "--at", at, "--json")
                #expect(outcome.exitCode == 0, "\(outcome.errors)")
                #expect(outcome.output.contains(states[index].time ?? "-"), "\(outcome.output)")
                try await self.check(scene, "at-\(index)", states[index], writers)
            }
            let newest = try await scene.restoreChain("chain", to: "newest")
            #expect(newest.exitCode == 0, "\(newest.errors)")
            let names = try await self.check(scene, "newest", try #require(states.last), writers)
            // A shutdown in order takes all with it.
            #expect(writers.allSatisfy { names.contains("w\($0.number)-\($0.count)") })
            let text = try String(contentsOfFile: scene.path("follow.prom"), encoding: .utf8)
            #expect(
                text.contains("\ntidemark_backup_follow_success 1.0\n")
                    && ExpositionGrammar(text).faults.isEmpty
            )

            let early = try await scene.restoreChain("chain", to: "early", "--at", "2020-01-01T00:00Z")
            #expect(early.exitCode == 65 && early.errors.contains("the oldest state in"))
            let drill = try await ChildProcess.tidemark(
                "backup",
                "--drill",
                "--from",
                scene.path("chain"),
                "--data",
                scene.server.dataPath,
                "--scratch",
                scene.folder
            )
            #expect(drill.exitCode == 0, "\(drill.errors)")
            #expect(drill.output.contains("1 assets") && drill.output.contains("records compared"))
            try await self.serve(scene, "newest", photo: photo)
        }
    }

    /// A restored state is a life of its own, with its files.
    private func serve(_ scene: BackupScene, _ name: String, photo: CKAsset) async throws {
        let old = try await scene.epochs("data")
        await scene.server.end(SIGKILL)
        try FileManager.default.moveItem(atPath: scene.server.dataPath, toPath: scene.path("old"))
        try FileManager.default.moveItem(atPath: scene.path(name), toPath: scene.server.dataPath)
        #expect(zip(try await scene.epochs("data"), old).allSatisfy { $0 != $1 })
        try await scene.server.start()
        let id = CKRecord.ID(recordName: "photo", zoneID: scene.zone)
        let fetched = try await scene.database("another").record(for: id)
        #expect(try fetched.file("file") == Data(contentsOf: scene.files.url("photo")))
        let verified = try await scene.verify()
        #expect(verified.exitCode == 0 && verified.output.hasPrefix("1 assets, 300000 bytes: 1 intact"))
    }

    @discardableResult
    private func check(
        _ scene: BackupScene,
        _ data: String,
        _ state: FollowProcess.Event,
        _ writers: [TimedWriter]
    ) async throws -> Set<String> {
        let names = try await scene.recordNames(in: data)
        for writer in writers {
            writer.check(
                names,
                covers: state.milliseconds(state.covers),
                time: state.milliseconds(state.time)
            )
        }
        return names
    }

    @Test
    func `kills of the backup and of the server leave states that are whole, and a chain that goes on`()
        async throws
    {
        var generator = SeededGenerator.fromEnvironment()
        print("FollowTests: SEED=\(generator.seed), \(Self.kills) kills")
        try await BackupScene.run { scene in
            var follow = try FollowProcess(scene, to: "chain")
            var events: [FollowProcess.Event] = []
            let writers = try await scene.withWriters(3) { _ in
                await follow.wait(for: "base")
                for number in 0..<Self.kills {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...1_500, using: &generator)))
                    if number % 3 == 1 {
                        await scene.server.end(SIGKILL)
                        try await scene.server.start()
                    } else {
                        events += await follow.kill()
                        if number % 3 == 2 { try await Task.sleep(for: .milliseconds(300)) }
                        follow = try FollowProcess(scene, to: "chain")
                    }
                }
                await follow.wait(for: "increment")
            }
            events += await follow.stop()
            let states = Self.state(events)
            let bases = states.filter { $0.event == "base" }.count
            print("FollowTests: \(states.count) states, \(bases) bases")
            var picked = Set([0, states.count - 1])
            for _ in 0..<3 { picked.insert(Int.random(in: states.indices, using: &generator)) }
            for index in picked {
                let at = states[index].time ?? ""
                let outcome = try await scene.restoreChain("chain", to: "at-\(index)", "--at", at)
                #expect(outcome.exitCode == 0, "\(outcome.errors)")
                try await self.check(scene, "at-\(index)", states[index], writers)
            }
            let newest = try await scene.restoreChain("chain", to: "newest")
            #expect(newest.exitCode == 0, "\(newest.errors)")
            let names = try await scene.recordNames(in: "newest")
            #expect(writers.allSatisfy { names.contains("w\($0.number)-\($0.count)") })
        }
    }

    // MARK: Damage

    /// A chain with a base and some increments, each with a record.
    private func chain(_ scene: BackupScene, increments: Int) async throws -> [FollowProcess.Event] {
        let follow = try FollowProcess(scene, to: "chain")
        await follow.wait(for: "base")
        for number in 1...increments {
            try await scene.database().save(scene.record("note-\(number)"))
            await follow.wait(for: "increment", count: number)
        }
        return Self.state(await follow.stop())
    }

    @Test
    func `a file that is missing or changed is found, and what is whole is restored if asked for`()
        async throws
    {
        try await BackupScene.run { scene in
            let states = try await self.chain(scene, increments: 3)
            let base = scene.path("chain/" + (states[0].base ?? ""))
            let cases: [(file: String, isChanged: Bool, whole: Int)] = [
                ("000002.pages", true, 1), ("000002.pages", false, 1), ("000002.json", true, 1),
                ("000002.json", false, 1), ("000003.json", false, 2), ("000003.json", true, 2),
                ("000001.pages", true, 0),
            ]
            for (number, damage) in cases.enumerated() {
                let path = base + "/" + damage.file
                let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
                if damage.isChanged {
                    var changed = bytes
                    changed[changed.count / 2] ^= 1
                    try changed.write(to: URL(fileURLWithPath: path))
                } else {
                    try FileManager.default.removeItem(atPath: path)
                }
                let refused = try await scene.restoreChain("chain", to: "refused")
                #expect(refused.exitCode == 65, "\(damage)")
                #expect(refused.errors.contains(damage.file), "\(refused.errors)")
                #expect(
                    refused.errors.contains("whole up to \(states[damage.whole].time ?? "-")"),
                    "\(refused.errors)"
                )
                #expect(!FileManager.default.fileExists(atPath: scene.path("refused")))
                let drill = try await ChildProcess.tidemark(
                    "backup",
                    "--drill",
                    "--from",
                    scene.path("chain"),
                    "--scratch",
                    scene.folder
                )
                #expect(drill.exitCode == 65 && drill.errors.contains(damage.file), "\(drill.errors)")
                // States that do not need the file are restored without being asked for.
                let at = states[max(0, damage.whole - 1)].time ?? ""
                if damage.file.hasSuffix(".pages"), damage.whole > 0 {
                    let older = try await scene.restoreChain("chain", to: "older-\(number)", "--at", at)
                    #expect(older.exitCode == 0, "\(older.errors)")
                }
                let part = try await scene.restoreChain("chain", to: "part-\(number)", "--whole-part")
                #expect(part.exitCode == 0, "\(part.errors)")
                let names = try await scene.recordNames(in: "part-\(number)")
                #expect(names.filter { $0.hasPrefix("note-") }.count == damage.whole)
                try bytes.write(to: URL(fileURLWithPath: path))
            }
            #expect(try await scene.restoreChain("chain", to: "whole").exitCode == 0)
            try await self.spoilBase(scene, base)
        }
    }

    private func spoilBase(_ scene: BackupScene, _ base: String) async throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: base + "/tidemark.sqlite"))
        try file.seek(toOffset: 50_000)
        try file.write(contentsOf: Data([1, 2, 3]))
        try file.close()
        for arguments in [[], ["--whole-part"]] {
            let outcome = try await ChildProcess.run(
                ChildProcess.tidemark,
                ["restore", "--from", scene.path("chain"), "--data", scene.path("spoilt")] + arguments
            )
            #expect(
                outcome.exitCode == 65 && outcome.errors.contains("no state is whole"),
                "\(outcome.errors)"
            )
            #expect(!FileManager.default.fileExists(atPath: scene.path("spoilt")))
        }
    }

    // MARK: Retention

    @Test
    func `bases that no kept state builds on are removed with their increments and assets`() async throws {
        try await BackupScene.run(settings: ["--set", "asset_grace_s=1"]) { scene in
            let photo = try scene.files.asset("photo", bytes: 300_000, seed: 1)
            try await scene.database().save(scene.record("photo", ["file": photo]))
            let follow = try FollowProcess(scene, to: "chain", "--base-every", "2s", "--keep", "3s")
            await follow.wait(for: "base")
            func assets() throws -> Int {
                try scene.tree("chain").filter { $0.key.hasPrefix("assets/") && $0.value.count == 300_000 }
                    .count
            }
            #expect(try assets() == 1)
            try await scene.database().deleteRecord(withID: scene.record("photo").recordID)
            try await Task.sleep(for: .seconds(2))
            #expect(await scene.server.end(SIGTERM) == 0)
            try await scene.server.start()
            let file = scene.server.dataPath + "/assets/01/1"
            await eventually { !FileManager.default.fileExists(atPath: file) }
            await eventually { (try? assets()) == 0 }
            let removed = await follow.wait(for: "removed", count: 2)
            let events = await follow.stop()
            let left = try FileManager.default.contentsOfDirectory(atPath: scene.path("chain"))
                .filter { $0.hasPrefix("base-") }
            #expect(left.count >= 2 && Set(left).isDisjoint(with: Set(removed.compactMap(\.base))))
            let newest = try #require(Self.state(events).last)
            let kept = try await scene.restoreChain("chain", to: "kept", "--at", newest.time ?? "")
            #expect(kept.exitCode == 0, "\(kept.errors)")
            let gone = try await scene.restoreChain("chain", to: "gone", "--at", events[0].time ?? "")
            #expect(gone.exitCode == 65 && gone.errors.contains("the oldest state"), "\(gone.errors)")
        }
    }

    // MARK: Refusals and a full disk

    @Test
    func `what is no chain is left alone, and one process continues a chain`() async throws {
        try await BackupScene.run { scene in
            func follow(_ arguments: String...) async throws -> ChildProcess.Outcome {
                try await ChildProcess.run(ChildProcess.tidemark, ["backup", "--follow"] + arguments)
            }
            let data = ["--data", scene.server.dataPath]
            let other = try await follow(data[0], data[1], "--to", scene.server.dataPath)
            #expect(other.exitCode == 65 && other.errors.contains("has other contents"), "\(other.errors)")
            let none = try await follow("--data", scene.path("none"), "--to", scene.path("chain"))
            #expect(none.exitCode == 66)
            let first = try FollowProcess(scene, to: "chain")
            await first.wait(for: "base")
            let second = try await follow(data[0], data[1], "--to", scene.path("chain"))
            #expect(second.exitCode == 69 && second.errors.contains("another process continues"))
            _ = await first.stop()
            for command in [["serve", "--listen", "127.0.0.1:0"], ["usage"]] {
                let outcome = try await ChildProcess.run(
                    ChildProcess.tidemark,
                    command + ["--data", scene.path("chain")]
                )
                #expect(outcome.exitCode == 65 && outcome.errors.contains("tidemark restore --from"))
            }
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            let at = try await scene.restoreChain("backup", to: "new", "--at", "2026-01-01T00:00Z")
            #expect(at.exitCode == 64 && at.errors.contains("--follow"))
            for arguments in [
                ["--follow", "--to", "-"], ["--follow"], ["--to", "a", "--every", "1s"],
                ["--follow", "--to", "a", "--every", "0s"], ["--follow", "--to", "a", "--keep", "7"],
                ["--follow", "--drill", "--from", "a"],
            ] {
                let outcome = try await ChildProcess.run(ChildProcess.tidemark, ["backup"] + arguments)
                #expect(outcome.exitCode == 64, "\(arguments): \(outcome.errors)")
            }
            let zone = try await scene.restoreChain("chain", to: "new", "--at", "2026-01-01T00:00")
            #expect(zone.exitCode == 64, "a time without its zone")
        }
    }

    @Test
    func `a full disk ends no state and no process, and the chain goes on when there is room`() async throws {
        try await BackupScene.run { scene in
            let small = scene.path("small")
            try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: true)
            let holder = try ChildProcess(
                URL(fileURLWithPath: "/bin/sh"),
                [
                    "-c",
                    "exec unshare -Urm sh -c \"mount -t tmpfs -o mode=700,size=12m tmpfs '\(small)' && echo mounted "
                        + "&& exec sleep 100000\"",
                ]
            )
            guard await holder.find({ $0.contains("mounted") ? true : nil }) == true else {
                print("FollowTests: nobody may mount here (\(holder.errorsSoFar))")
                return
            }
            let inside = "/proc/\(holder.processID)/root\(small)"
            let process = try ChildProcess(
                URL(fileURLWithPath: "/usr/bin/env"),
                ["nsenter", "--preserve-credentials", "-U", "-m", "-t", "\(holder.processID)"]
                    + [ChildProcess.tidemark.path, "backup", "--follow", "--json", "--every", "1s"]
                    + ["--data", scene.server.dataPath, "--to", small]
            )
            _ = await process.find { $0.contains("\"base\"") ? true : nil }
            let filler = [UInt8](repeating: 0, count: 65_536)
            let fillerPath = inside + "/lost+found"
            let descriptor = open(fillerPath, O_WRONLY | O_CREAT, 0o600)
            while write(descriptor, filler, filler.count) > 0 {}
            close(descriptor)
            try await scene.database().save(scene.record("first", ["bytes": Data(count: 100_000)]))
            let failed = await process.find { $0.contains("\"failed\"") ? true : nil }
            #expect(failed == true)
            // The errors are read from another pipe, which may be behind.
            while !process.errorsSoFar.contains("is full") {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(process.errorsSoFar.contains("is full"), "\(process.errorsSoFar)")
            let whole = try await ChildProcess.tidemark(
                "restore",
                "--from",
                inside,
                "--data",
                scene.path("whole")
            )
            #expect(whole.exitCode == 0, "\(whole.errors)")
            unlink(fillerPath)
            let again = await process.find { output in
                let events = FollowProcess.events(output)
                let failure = events.firstIndex { $0.event == "failed" } ?? events.endIndex
                return events[failure...].contains { $0.event == "increment" || $0.event == "base" }
                    ? true : nil
            }
            #expect(again == true)
            process.signal(SIGTERM)
            #expect(await process.outcome().exitCode == 0)
            let mended = try await ChildProcess.tidemark(
                "restore",
                "--from",
                inside,
                "--data",
                scene.path("mended")
            )
            #expect(mended.exitCode == 0, "\(mended.errors)")
            #expect(try await scene.recordNames(in: "mended").contains("first"))
            holder.signal(SIGKILL)
        }
    }
}
