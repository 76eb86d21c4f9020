import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Files of records that somebody takes part in, through the SDK against the real server.
@Suite(.timeLimit(.minutes(10)))
struct SharedFileTests {
    private static let mebibyte = SampleFiles.mebibyte

    /// Bob's shared database over a connection that is counted, and the list's zone as Bob names it.
    private static func bob(
        _ scene: SharingScene,
        _ proxy: CuttingProxy
    ) async throws -> (database: CKDatabase, zone: CKRecordZone.ID) {
        var connection = try await scene.server.connection(for: "bob")
        let port = try await proxy.start(for: try #require(URL(string: scene.server.url)?.port))
        connection.url = "tidemark://localhost:\(port)"
        let bob = CKContainer(identifier: TestServer.defaultContainerIdentifier, connection: connection)
        let zones = try await bob.sharedCloudDatabase.allRecordZones()
        return (bob.sharedCloudDatabase, try #require(zones.first?.zoneID))
    }

    private func finish(_ operation: CKOperation) async {
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            operation.start()
        }
    }

    @Test func `a participant saves a file with progress, and the owner has it`() async throws {
        try await SharingScene.run { scene in
            let files = try SampleFiles()
            let mine = scene.note("mine", below: scene.id("list"))
            mine.setParent(nil as CKRecord.ID?)
            // The owner has the same bytes where Bob may not look.
            mine["file"] = try files.asset("owner's", bytes: 5 * Self.mebibyte)
            try await scene.alice.privateCloudDatabase.save(mine)
            try await scene.join(try await scene.shareList { $0.publicPermission = .readWrite }.url)
            let proxy = CuttingProxy()
            let (database, zone) = try await Self.bob(scene, proxy)
            let list = CKRecord.ID(recordName: "list", zoneID: zone)
            let note = scene.note("photo", below: list)
            let url = try files.make("photo", bytes: 5 * Self.mebibyte)
            note["file"] = CKAsset(fileURL: url)
            let before = proxy.counts
            let progress = Collected<Double>()
            let save = CKModifyRecordsOperation(recordsToSave: [note])
            save.perRecordProgressBlock = { progress.append($1) }
            save.perRecordSaveBlock = { _, result in #expect(result.cloudKitError == nil) }
            save.database = database
            await self.finish(save)
            #expect(progress.values.last == 1 && progress.values == progress.values.sorted())
            #expect(proxy.counts.toServer - before.toServer > 5 * Self.mebibyte)
            let fetched = try await scene.alice.privateCloudDatabase.record(for: scene.id("photo"))
            #expect(try fetched.file("file") == Data(contentsOf: url))
            // What is there stays as the record changes, and may be named by another one.
            note["text"] = "again"
            let copy = scene.note("copy", below: list)
            copy["file"] = note["file"] as? CKAsset
            let results = try await database.modifyRecords(saving: [note, copy], deleting: []).saveResults
            for id in [note.recordID, copy.recordID] { _ = try results[id]?.get() }
        }
    }

    @Test func `a participant gets the files of records that he may read, and no others`() async throws {
        try await SharingScene.run { scene in
            let files = try SampleFiles()
            let database = scene.alice.privateCloudDatabase
            let photo = scene.note("photo", below: scene.id("list"))
            let secret = CKRecord(recordType: "Note", recordID: scene.id("secret"))
            photo["file"] = try files.asset("photo", bytes: 2 * Self.mebibyte, seed: 1)
            secret["file"] = try files.asset("secret", bytes: 2 * Self.mebibyte, seed: 2)
            try await database.modifyRecords(saving: [photo, secret], deleting: [])
            try await scene.join(try await scene.shareList { $0.publicPermission = .readOnly }.url)
            let proxy = CuttingProxy()
            let (shared, zone) = try await Self.bob(scene, proxy)
            let fetched = try await shared.record(for: CKRecord.ID(recordName: "photo", zoneID: zone))
            #expect(try fetched.file("file") == Data(contentsOf: files.url("photo")))
            let hidden = await thrown {
                _ = try await shared.record(for: CKRecord.ID(recordName: "secret", zoneID: zone))
            }
            #expect(hidden?.code == .unknownItem)
            fetched["file"] = try files.asset("other", bytes: Self.mebibyte, seed: 3)
            let denied = await thrown { try await shared.save(fetched) }
            #expect(denied?.code == .permissionFailure)
            #expect(proxy.counts.toServer < Self.mebibyte, "nothing was sent")
        }
    }
}
