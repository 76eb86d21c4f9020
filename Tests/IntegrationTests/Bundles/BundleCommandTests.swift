import CloudKit
import CoreLocation
import Foundation
import TestSupport
import Testing

/// `tidemark zone export` and `import` beside two servers.
@Suite(.timeLimit(.minutes(10)))
struct BundleCommandTests {
    /// Records of every kind, children before their parents in the order of saves.
    private static func fill(_ scene: BundleScene) async throws {
        let source = scene.source
        let parent = source.record("z-parent", ["text": "Hello, world"])
        let child = source.record(
            "a-child",
            [
                "file": try source.files.asset("file", bytes: 3_000_000, seed: 1),
                "date": Date(timeIntervalSinceReferenceDate: 794_534_400.123_456),
                "place": CLLocation(latitude: 52.5, longitude: -13.25), "bytes": Data([0, 255]),
                "list": ["a", "b"], "number": Int64.max, "ratio": 0.1,
            ]
        )
        child.encryptedValues["secret"] = "sealed"
        let twin = source.record("twin", ["file": try source.files.asset("same", bytes: 3_000_000, seed: 1)])
        let referrer = source.record("b-referrer", ["text": "x"])
        referrer["target"] = CKRecord.Reference(record: child, action: .deleteSelf)
        let database = source.database()
        _ = try await database.modifyRecords(saving: [referrer, child], deleting: [])
        _ = try await database.modifyRecords(saving: [parent, twin], deleting: [])
        // The child is older than its parent now.
        let fetched = try await database.record(for: child.recordID)
        fetched.parent = CKRecord.Reference(record: parent, action: .none)
        _ = try await database.save(fetched)
    }

    @Test
    func `a zone on another server has the same feed, dates, authors and files`() async throws {
        try await BundleScene.run { scene in
            try await Self.fill(scene)
            let bundle = try await scene.bundle()
            let again = try await scene.export(["--zone", "desk", "--output", bundle])
            #expect(again.exitCode == 73 && again.errors.contains("exists"), "\(again.errors)")
            let listed = try await ChildProcess.run(URL(fileURLWithPath: "/usr/bin/tar"), ["tf", bundle])
            #expect(listed.output.split(separator: "\n").count == 5, "\(listed.output)")

            let dry = try await scene.importBundle([bundle, "--dry-run", "--json"])
            #expect(dry.exitCode == 0 && dry.output.contains(#""records" : 4"#), "\(dry.errors)\(dry.output)")
            let none = try await scene.zones()
            #expect(none == [])
            let done = try await scene.importBundle([bundle])
            #expect(done.exitCode == 0, "\(done.errors)")
            #expect(done.output.hasPrefix("Imported: zones 1, records 4, of them shares 0, assets 1"))

            let before = Set(try await scene.feed(of: scene.source.server.dataPath))
            let after = Set(try await scene.feed(of: scene.target.dataPath))
            #expect(before.count == 4)
            #expect(after == before)
            let database = scene.container(for: "alice").privateCloudDatabase
            let record = try await database.record(for: scene.source.record("a-child").recordID)
            let original = try await scene.source.database().record(for: record.recordID)
            #expect(try record.file("file") == original.file("file"))
            #expect(record.creationDate == original.creationDate)
            #expect(record.modificationDate == original.modificationDate)
            #expect(record.encryptedValues["secret"] as? String == "sealed")
            #expect(record.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
            let verified = try await ChildProcess.tidemark(
                "assets",
                "verify",
                "--data",
                scene.target.dataPath
            )
            #expect(verified.exitCode == 0 && verified.output.contains("1 asset"), "\(verified.output)")

            // References hold: the referrer goes with its target.
            _ = try await database.deleteRecord(withID: record.recordID)
            let gone = await thrown {
                _ = try await database.record(for: scene.source.record("b-referrer").recordID)
            }
            #expect(gone?.code == .unknownItem)

            let full = try await scene.importBundle([bundle])
            #expect(full.exitCode == 65 && full.errors.contains("--to"), "\(full.errors)")
            let renamed = try await scene.importBundle([bundle, "--to", "second"])
            #expect(renamed.exitCode == 0, "\(renamed.errors)")
            let second = Set(try await scene.feed(of: scene.target.dataPath, zone: "second"))
            #expect(second == before)
        }
    }

    @Test
    func `all zones of a user travel through a pipe`() async throws {
        try await BundleScene.run { scene in
            try await Self.fill(scene)
            let database = scene.source.database()
            let empty = CKRecordZone(zoneName: "empty")
            empty.encryptionScope = .perZone
            _ = try await database.save(empty)
            _ = try await database.save(CKRecord(recordType: "Plain", recordID: .init(recordName: "loose")))
            let tidemark = ChildProcess.tidemark.path
            let container = BackupScene.containerID
            let outcome = try await ChildProcess.run(
                URL(fileURLWithPath: "/bin/sh"),
                [
                    "-c",
                    "'\(tidemark)' zone export --all --as alice --container \(container) "
                        + "--data '\(scene.source.server.dataPath)' | "
                        + "'\(tidemark)' zone import --as alice --container \(container) "
                        + "--data '\(scene.target.dataPath)' --json",
                ]
            )
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            // The record of alice herself is that of her new server.
            #expect(outcome.output.contains(#""skipped" : 1"#), "\(outcome.output)")
            #expect(try await scene.zones() == ["desk", "empty"])
            let there = scene.container(for: "alice").privateCloudDatabase
            let loose = try await there.record(for: .init(recordName: "loose"))
            #expect(loose.recordType == "Plain")
            let scopes = try await there.allRecordZones().filter { $0.encryptionScope == .perZone }
            #expect(scopes.map(\.zoneID) == [empty.zoneID])
            let left = try FileManager.default.contentsOfDirectory(atPath: scene.target.dataPath)
            #expect(!left.contains { $0.hasPrefix("import-") }, "\(left)")
        }
    }

    @Test
    func `a stream that is cut or changed leaves nothing behind`() async throws {
        try await BundleScene.run { scene in
            try await Self.fill(scene)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: await scene.bundle()))
            var generator = SystemRandomNumberGenerator()
            var bad: [(String, Data)] = [512, 10_240, bytes.count / 2, bytes.count - 1].map {
                ("cut at \($0)", Data(bytes.prefix($0)))
            }
            for _ in 0..<4 {
                let index = Int.random(in: bytes.indices, using: &generator)
                var changed = bytes
                changed[index] ^= 4
                bad.append(("changed at \(index)", changed))
            }
            for (what, data) in bad {
                let path = scene.path("bad.tidemark")
                try data.write(to: URL(fileURLWithPath: path))
                let outcome = try await scene.importBundle([path])
                #expect(
                    outcome.exitCode == 65 && outcome.errors.contains("nothing was imported"),
                    "\(what): \(outcome.errors)"
                )
            }
            #expect(try await scene.zones() == [])
            let other = try scene.source.write(String(repeating: "no bundle ", count: 100), to: "text")
            let refused = try await scene.importBundle([other])
            #expect(refused.exitCode == 65 && refused.errors.contains("not a bundle"), "\(refused.errors)")
            // An endless one: no more than its beginning is copied.
            let endless = try await scene.importBundle(["/dev/zero"])
            #expect(endless.exitCode == 65 && endless.errors.contains("not a bundle"), "\(endless.errors)")
            let good = try scene.source.write("", to: "good.tidemark")
            try bytes.write(to: URL(fileURLWithPath: good))
            let full = try await ChildProcess.run(
                URL(fileURLWithPath: "/bin/bash"),
                [
                    "-c",
                    "'\(ChildProcess.tidemark.path)' zone import <(cat '\(good)') --as alice "
                        + "--container \(BackupScene.containerID) --data '\(scene.target.dataPath)' "
                        + "--set disk_reserve_bytes=1000000000000000",
                ]
            )
            #expect(full.exitCode == 73 && full.errors.contains("after 0 bytes"), "\(full.errors)")
            let absent = try await scene.importBundle([scene.path("absent")])
            #expect(absent.exitCode == 65 && absent.errors.contains("cannot be read"), "\(absent.errors)")
            let schema = try await ChildProcess.tidemark(
                "schema",
                "export",
                "--container",
                BackupScene.containerID,
                "--data",
                scene.target.dataPath
            )
            #expect(!schema.output.contains("Note"), "\(schema.output)")
        }
    }

    @Test
    func `an import beyond the quota takes its zone back`() async throws {
        try await BundleScene.run { scene in
            try await Self.fill(scene)
            let bundle = try await scene.bundle()
            let outcome = try await scene.importBundle([bundle, "--set", "user_bytes_max=1000000"])
            #expect(outcome.exitCode == 65, "\(outcome.errors)")
            #expect(outcome.errors.contains("were deleted again"), "\(outcome.errors)")
            #expect(try await scene.zones() == [])
            let fits = try await scene.importBundle([bundle, "--set", "user_bytes_max=20000000"])
            #expect(fits.exitCode == 0, "\(fits.errors)")
        }
    }

    @Test
    func `production takes only what was deployed, and a field keeps its type`() async throws {
        try await BundleScene.run { scene in
            try await Self.fill(scene)
            let bundle = try await scene.bundle()
            let production = try await scene.importBundle([bundle, "--environment", "production"])
            #expect(
                production.exitCode == 65 && production.errors.contains("production lacks Note"),
                "\(production.errors)"
            )
            let record = CKRecord(recordType: "Note", recordID: .init(recordName: "other"))
            record["text"] = 5
            _ = try await scene.container(for: "alice").privateCloudDatabase.save(record)
            let other = try await scene.importBundle([bundle])
            #expect(other.exitCode == 65 && other.errors.contains("the field Note.text"), "\(other.errors)")
            #expect(try await scene.zones() == [])
        }
    }

    @Test
    func `a scrambled bundle has the shape of the zone, and none of its words`() async throws {
        try await BundleScene.run { scene in
            try await Self.fill(scene)
            let bundle = try await scene.bundle("scrambled.tidemark", ["--scramble"])
            let bytes = try Data(contentsOf: URL(fileURLWithPath: bundle))
            let owner = try await scene.userRecordName(of: "alice", in: scene.source.server.dataPath)
            let file = try Data(contentsOf: scene.source.files.url("file"))
            for secret in ["Hello, w", "sealed", "z-parent", "desk", owner] {
                #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret)")
            }
            #expect(bytes.range(of: file.prefix(64)) == nil)
            #expect(bytes.range(of: Data("secret".utf8)) != nil)
            let done = try await scene.importBundle([bundle, "--to", "noise"])
            #expect(done.exitCode == 0, "\(done.errors)")
            #expect(done.output.contains("records 4, of them shares 0, assets 1"), "\(done.output)")
        }
    }

    @Test
    func `wrong use is told`() async throws {
        try await BundleScene.run { scene in
            let which = try await scene.export(["--output", scene.path("x")])
            #expect(which.exitCode == 64 && which.errors.contains("--all"), "\(which.errors)")
            let zone = try await scene.export(["--zone", "Desk", "--output", scene.path("x")])
            #expect(zone.exitCode == 65 && zone.errors.contains("no zone"), "\(zone.errors)")
            #expect(!FileManager.default.fileExists(atPath: scene.path("x")))
            #expect(!FileManager.default.fileExists(atPath: scene.path("x.unfinished")))
            let bundle = try await scene.bundle()
            let other = try await scene.importBundle([bundle, "--zone", "Other"])
            #expect(other.exitCode == 65 && other.errors.contains("It has: desk"), "\(other.errors)")
            let map = try await scene.importBundle([bundle, "--map-user", "x"])
            #expect(map.exitCode == 64, "\(map.errors)")
        }
    }
}
