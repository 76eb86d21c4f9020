import CloudKit
import CloudKitTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Records and zones that are there no more when a token has expired: no server says so, and
/// readers hear of it all the same.
@Suite(.timeLimit(.minutes(10)))
struct LostRecordTests {
    /// Follows a zone by operations, as published code does: when its token has expired it begins
    /// without one.
    private final class Follower: Sendable {
        let database: CKDatabase
        let zone: CKRecordZone.ID
        private let token = Mutex<CKServerChangeToken?>(nil)

        init(_ database: CKDatabase, _ zone: CKRecordZone.ID) {
            self.database = database
            self.zone = zone
        }

        /// - Returns: What was told, in order.
        func fetch(desiredKeys: [String]? = nil) async -> [String] {
            let told = Collected<String>()
            let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
                previousServerChangeToken: self.token.withLock { $0 },
                resultsLimit: 2,
                desiredKeys: desiredKeys
            )
            let operation = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [self.zone],
                configurationsByRecordZoneID: [self.zone: configuration]
            )
            operation.recordWasChangedBlock = { id, _ in told.append(id.recordName) }
            operation.recordWithIDWasDeletedBlock = { id, type in told.append("-\(id.recordName) \(type)") }
            operation.recordZoneFetchResultBlock = { _, result in
                switch result {
                case .success(let end): self.token.withLock { $0 = end.serverChangeToken }
                case .failure(let error):
                    told.append("\((error as? CKError)?.code ?? .internalError)")
                    self.token.withLock { $0 = nil }
                }
            }
            await withCheckedContinuation { continuation in
                operation.fetchRecordZoneChangesResultBlock = { _ in continuation.resume() }
                self.database.add(operation)
            }
            return told.values
        }
    }

    private func deletions(_ app: SyncApp) -> [String] {
        app.takeLog().filter { $0.hasPrefix("fetchedRecordZoneChanges") && !$0.hasSuffix("deletions: [])") }
    }

    @Test
    func `what was deleted while a token expired is told once, to operations and to an engine`() async throws
    {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            let follower = Follower(desk.database, desk.zone.zoneID)
            for name in ["a", "b", "c", "d"] { try await desk.save("x", to: desk.id(name)) }
            #expect(await follower.fetch() == ["a", "b", "c", "d"])
            try await engine.fetchChanges()
            _ = app.takeLog()
            // Another device does it: what is deleted here nobody here has to hear of.
            var connection = try await desk.server.connection(for: "alice")
            connection.ledgerFolder = connection.ledgerFolder.map { $0 + "-elsewhere" }
            let elsewhere = CKContainer(
                identifier: TestServer.defaultContainerIdentifier,
                connection: connection
            )
            try await elsewhere.privateCloudDatabase.deleteRecord(withID: desk.id("b"))

            desk.server.faults.add(.fetchChanges(.next), .changeTokenExpired)
            #expect(await follower.fetch() == ["changeTokenExpired"])
            #expect(await follower.fetch(desiredKeys: []) == ["a", "c", "d", "-b Note"])
            #expect(await follower.fetch() == [])
            desk.server.faults.add(.fetchChanges(.next), .changeTokenExpired)
            try await engine.fetchChanges()
            #expect(
                self.deletions(app) == [
                    "fetchedRecordZoneChanges(modifications: [Z/a, Z/c, Z/d], deletions: [Z/b])"
                ]
            )
            try await engine.fetchChanges()
            #expect(self.deletions(app).isEmpty)
            #expect(app.texts == ["a": "x", "c": "x", "d": "x"])
            await connection.close()
        }
    }

    @Test
    func `what a restore took back is told once, to operations and to an engine`() async throws {
        try await BackupScene.run { scene in
            var database = scene.database()
            try await database.save(scene.record("kept"))
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            try await database.save(scene.record("lost"))
            let app = SyncApp()
            try await app.start(database).fetchChanges()
            let before = Follower(database, scene.zone)
            #expect(await before.fetch() == ["kept", "lost"])
            #expect(Set(app.texts.keys) == ["kept", "lost"])
            try await scene.loseAndRestore("backup")

            database = scene.database("second", inPlaceOf: "first")
            let follower = Follower(database, scene.zone)
            // Without a token that expires nobody knows what a reader had.
            #expect(await follower.fetch() == ["kept"])
            let again = SyncApp(app.kept)
            _ = again.takeLog()
            let engine = again.start(database)
            try await engine.fetchChanges()
            #expect(
                self.deletions(again) == [
                    "fetchedRecordZoneChanges(modifications: [desk/kept], deletions: [desk/lost])"
                ]
            )
            #expect(Set(again.texts.keys) == ["kept"])
            try await engine.fetchChanges()
            #expect(self.deletions(again).isEmpty)
        }
    }

    @Test
    func `a token of before a restore, and pages that an app asks for one by one`() async throws {
        try await BackupScene.run { scene in
            var database = scene.database()
            for name in ["a", "b", "c"] { try await database.save(scene.record(name)) }
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            for name in ["d", "e"] { try await database.save(scene.record(name)) }
            let old = try await database.recordZoneChanges(inZoneWith: scene.zone, since: nil).changeToken
            try await scene.loseAndRestore("backup")
            database = scene.database("second", inPlaceOf: "first")
            await expect(.changeTokenExpired) {
                _ = try await database.recordZoneChanges(inZoneWith: scene.zone, since: old)
            }
            var token: CKServerChangeToken?
            var told: [String] = []
            var lost: [String] = []
            var isMore = true
            while isMore {
                let page = try await database.recordZoneChanges(
                    inZoneWith: scene.zone,
                    since: token,
                    resultsLimit: 1
                )
                told += page.modificationResultsByID.keys.map(\.recordName)
                lost += page.deletions.map { "\($0.recordID.recordName) \($0.recordType)" }
                // Not before all has come.
                #expect(lost.isEmpty || !page.moreComing)
                (token, isMore) = (page.changeToken, page.moreComing)
            }
            #expect(told == ["a", "b", "c"])
            #expect(lost == ["d Note", "e Note"])
            let next = try await database.recordZoneChanges(inZoneWith: scene.zone, since: token)
            #expect(next.deletions.isEmpty && next.modificationResultsByID.isEmpty)
        }
    }

    @Test
    func `a zone that went while the database's token expired is told`() async throws {
        try await SyncDesk.run { desk in
            for name in ["Y", "Z"] { try await desk.database.save(CKRecordZone(zoneName: name)) }
            let first = try await desk.database.databaseChanges(since: nil)
            #expect(first.deletions.isEmpty)
            try await desk.database.deleteRecordZone(withID: CKRecordZone.ID(zoneName: "Y"))
            desk.server.faults.add(.fetchDatabaseChanges(.next), .changeTokenExpired)
            await expect(.changeTokenExpired) {
                _ = try await desk.database.databaseChanges(since: first.changeToken)
            }
            let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
            let (changed, deleted) = (Collected<String>(), Collected<CKRecordZone.ID>())
            operation.recordZoneWithIDChangedBlock = { changed.append($0.zoneName) }
            operation.recordZoneWithIDWasDeletedBlock = { deleted.append($0) }
            let token: CKServerChangeToken = try await withCheckedThrowingContinuation { continuation in
                operation.fetchDatabaseChangesResultBlock = { result in
                    continuation.resume(with: result.map(\.serverChangeToken))
                }
                desk.database.add(operation)
            }
            #expect(changed.values.contains("Z"))
            #expect(deleted.values == [CKRecordZone.ID(zoneName: "Y")])
            #expect(try await desk.database.databaseChanges(since: token).deletions.isEmpty)
        }
    }

    @Test
    func `what this installation saved counts as told, and a container that keeps nothing tells nothing`()
        async throws
    {
        try await SyncDesk.run { desk in
            try await desk.database.save(desk.zone)
            var connection = try await desk.server.connection(for: "alice")
            connection.ledgerBytesMax = 0
            let without = CKContainer(
                identifier: TestServer.defaultContainerIdentifier,
                connection: connection
            )
            let with = Follower(desk.database, desk.zone.zoneID)
            let other = Follower(without.privateCloudDatabase, desk.zone.zoneID)
            try await desk.save("x", to: desk.id("a"))
            for follower in [with, other] { #expect(await follower.fetch() == ["a"]) }
            // Saved here, not fetched, and deleted by another device.
            try await desk.save("x", to: desk.id("b"))
            try await without.privateCloudDatabase.deleteRecord(withID: desk.id("b"))
            try await without.privateCloudDatabase.deleteRecord(withID: desk.id("a"))
            desk.server.faults.add(.fetchChanges(.first), .changeTokenExpired)
            desk.server.faults.add(.fetchChanges(.second), .changeTokenExpired)
            for follower in [with, other] { #expect(await follower.fetch() == ["changeTokenExpired"]) }
            #expect(await with.fetch() == ["-a Note", "-b Note"])
            #expect(await other.fetch() == [])
            await connection.close()
        }
    }
}
