import CloudKit
import Foundation
import TestSupport
import Testing

/// A server is lost, and another goes on with a backup of it.
@Suite(.timeLimit(.minutes(10)))
struct RestoreTests {
    @Test
    func `what was acknowledged before a backup began is restored, whatever is written meanwhile`()
        async throws
    {
        try await BackupScene.run { scene in
            let database = scene.database()
            for number in 1...3 {
                let file = try scene.files.asset("file-\(number)", bytes: 300_000, seed: UInt64(number))
                try await database.save(scene.record("file-\(number)", ["file": file]))
            }
            let writers = (1...4).map { SteadyWriter($0) }
            let tasks = writers.map { writer in
                let own = scene.database("writer-\(writer.number)")
                let zone = scene.zone
                return Task {
                    try await writer.run(own) { name in
                        CKRecord(
                            recordType: "Note",
                            recordID: CKRecord.ID(recordName: name, zoneID: zone)
                        )
                    }
                }
            }
            await eventually { writers.allSatisfy { $0.acknowledged >= 20 } }
            let before = writers.map(\.acknowledged)
            let outcome = try await scene.backUp(to: "backup")
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            let after = writers.map(\.acknowledged)
            await eventually { zip(writers, after).allSatisfy { $0.acknowledged > $1 } }
            for writer in writers { writer.stop() }
            for task in tasks { try await task.value }
            try await scene.loseAndRestore("backup")
            var names = try await scene.names()
            for (writer, least) in zip(writers, before) {
                // One moment: of each writer what it had saved by then, and nothing behind a gap.
                var count = 0
                while names.remove(writer.name(count + 1)) != nil { count += 1 }
                #expect((least...writer.sent).contains(count))
            }
            #expect(names == ["file-1", "file-2", "file-3"])
            let verified = try await scene.verify()
            #expect(verified.exitCode == 0 && verified.output.hasPrefix("3 assets, 900000 bytes: 3 intact"))
            let id = CKRecord.ID(recordName: "file-2", zoneID: scene.zone)
            let fetched = try await scene.database("another").record(for: id)
            #expect(try fetched.file("file") == Data(contentsOf: scene.files.url("file-2")))
        }
    }

    @Test
    func `tokens of before a restore have expired for good, and operations recover with all there is`()
        async throws
    {
        try await BackupScene.run { scene in
            var database = scene.database()
            for name in ["kept", "deleted later"] { try await database.save(scene.record(name)) }
            let old = try await database.recordZoneChanges(inZoneWith: scene.zone, since: nil).changeToken
            let oldOfDatabase = try await database.currentDatabaseToken()
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            let id = CKRecord.ID(recordName: "deleted later", zoneID: scene.zone)
            try await database.deleteRecord(withID: id)
            for number in 0..<10 { try await database.save(scene.record("lost \(number)")) }
            let lost = try await database.recordZoneChanges(inZoneWith: scene.zone, since: old).changeToken
            let lostOfDatabase = try await database.currentDatabaseToken()
            try await scene.loseAndRestore("backup")
            database = scene.database("second")
            for round in 0..<2 {
                for token in [old, lost] {
                    await expect(.changeTokenExpired) {
                        _ = try await database.recordZoneChanges(inZoneWith: scene.zone, since: token)
                    }
                }
                for token in [oldOfDatabase, lostOfDatabase] {
                    await expect(.changeTokenExpired) {
                        _ = try await database.databaseChanges(since: token)
                    }
                }
                for number in 0..<15 { try await database.save(scene.record("new \(round) \(number)")) }
            }
            let expired = try await Self.fetch(scene, in: database, since: lost)
            #expect(expired.error?.code == .changeTokenExpired)
            #expect(expired.names.isEmpty)
            let all = try await Self.fetch(scene, in: database, since: nil)
            #expect(all.error == nil)
            #expect(all.names.count == 32 && all.names.isSuperset(of: ["kept", "deleted later"]))
        }
    }

    /// What an operation finds in the zone, and its error for the zone.
    private static func fetch(
        _ scene: BackupScene,
        in database: CKDatabase,
        since token: CKServerChangeToken?
    ) async throws -> (names: Set<String>, error: CKError?) {
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration()
        configuration.previousServerChangeToken = token
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [scene.zone],
            configurationsByRecordZoneID: [scene.zone: configuration]
        )
        let names = Collected<String>()
        let errors = Collected<CKError?>()
        operation.recordWasChangedBlock = { id, _ in names.append(id.recordName) }
        operation.recordZoneFetchResultBlock = { _, result in
            if case .failure(let error) = result { errors.append(error as? CKError) }
        }
        await withCheckedContinuation { continuation in
            operation.fetchRecordZoneChangesResultBlock = { _ in continuation.resume() }
            database.add(operation)
        }
        return (Set(names.values), errors.values.first ?? nil)
    }

    @Test
    func `a sync engine has after a restore what the server has`() async throws {
        try await BackupScene.run { scene in
            let database = scene.database()
            func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: scene.zone) }
            for name in ["kept", "deleted later"] { try await database.save(scene.record(name)) }
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            try await database.deleteRecord(withID: id("deleted later"))
            try await database.save(scene.record("lost"))
            let device = SyncDevice(DeviceDisk(), isAtomic: false) { 1 }
            device.start(scene.database("device"), automatically: false)
            try await device.running?.fetchChanges()
            #expect(Set(device.disk.notes.keys) == [id("kept"), id("lost")])
            try await scene.loseAndRestore("backup")
            for number in 0..<10 { try await scene.database().save(scene.record("new \(number)")) }
            let again = SyncDevice(device.disk, isAtomic: false) { 1 }
            device.die()
            again.start(scene.database("device"), automatically: false)
            try await again.running?.fetchChanges()
            let names = try await scene.names()
            #expect(names.count == 12 && Set(again.disk.notes.keys.map(\.recordName)) == names)
        }
    }

    @Test
    func `a listener that was away over a restore has news, even where nothing is newer than it knew`()
        async throws
    {
        try await BackupScene.run { scene in
            let state = try TemporaryDirectory()
            let database = scene.database()
            try await database.save(scene.record("before"))
            let first = try scene.listener(in: state, "--zone", "desk", "--fetch", "--json")
            try await first.says("subscribed to zone desk")
            _ = try await first.lines(1)
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            try await database.save(scene.record("lost"))
            #expect(await first.process.find { $0.contains("lost") ? true : nil } == true)
            #expect(await first.stop().exitCode == 0)
            try await scene.loseAndRestore("backup")
            let second = try scene.listener(in: state, "--zone", "desk", "--fetch", "--json")
            let output = await second.process.find { $0.contains("before") ? $0 : nil } ?? ""
            #expect(output.contains("\"before\""))
            // It may say that what the restore took back is there no more, and nothing else of it.
            let lost = output.split(separator: "\n").filter { $0.contains("\"lost\"") }
            #expect(lost.allSatisfy { $0.contains("\"deleted\"") })
            #expect(await second.stop().exitCode == 0)
        }
    }

    @Test
    func `each restore begins epochs that no other has`() async throws {
        try await BackupScene.run { scene in
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            var all = [try await scene.epochs("data"), try await scene.epochs("backup")]
            #expect(all[0] == all[1])
            all.removeLast()
            for number in 1...3 {
                #expect(try await scene.restore("backup", to: "restored-\(number)").exitCode == 0)
                all.append(try await scene.epochs("restored-\(number)"))
            }
            let outcome = try await ChildProcess.tidemark(
                "backup",
                "--data",
                scene.path("restored-1"),
                "--to",
                scene.path("second")
            )
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            #expect(try await scene.restore("second", to: "restored-4").exitCode == 0)
            all.append(try await scene.epochs("restored-4"))
            #expect(Set(all).count == 5)
            #expect(Set(all.flatMap(\.self)).count >= 5)
            for (left, right) in zip(all, all.dropFirst()) {
                #expect(zip(left, right).allSatisfy { $0 != $1 })
            }
        }
    }
}
