import CloudKit
import Foundation
import TestSupport
import Testing

/// Shares in bundles.
@Suite(.timeLimit(.minutes(10)))
struct BundleSharingTests {
    /// A share of a root, with children on both sides of it in the order of saves, that bob has joined.
    private static func share(_ scene: BundleScene, with bob: CKContainer) async throws -> CKShare {
        let source = scene.source
        let root = source.record("root", ["text": "x"])
        let apart = source.record("apart")
        _ = try await source.database().modifyRecords(saving: [apart, root], deleting: [])
        let child = source.record("child")
        child.setParent(root)
        _ = try await source.database().save(child)
        let share = CKShare(rootRecord: try await source.database().record(for: root.recordID))
        share.publicPermission = .readWrite
        let fetched = try await source.database().record(for: root.recordID)
        let results = try await source.database().modifyRecords(
            saving: [fetched, share],
            deleting: []
        )
        let saved = try #require(try results.saveResults[share.recordID]?.get() as? CKShare)
        _ = try await bob.accept(bob.shareMetadata(for: #require(saved.url)))
        let last = source.record("last")
        last.setParent(child)
        _ = try await source.database().save(last)
        return saved
    }

    @Test
    func `a participant who is a user there reads the share as before`() async throws {
        try await BundleScene.run { scene in
            let bob = try await scene.newUser("bob")
            _ = try await Self.share(scene, with: bob)
            // Signed in, so that bob has a shared database there.
            let there = scene.container(for: "bob")
            #expect(try await there.sharedCloudDatabase.allRecordZones().isEmpty)
            let name = try await scene.userRecordName(of: "bob", in: scene.source.server.dataPath)
            let bundle = try await scene.bundle()
            let done = try await scene.importBundle([bundle, "--map-user", "\(name)=bob"])
            #expect(done.exitCode == 0, "\(done.errors)")
            #expect(done.output.contains("records 5, of them shares 1"), "\(done.output)")

            let zone = try #require(try await there.sharedCloudDatabase.allRecordZones().first).zoneID
            let seen = try await there.sharedCloudDatabase.recordZoneChanges(inZoneWith: zone, since: nil)
            let names = Set(seen.modificationResultsByID.keys.map(\.recordName))
            #expect(names.isSuperset(of: ["root", "child", "last"]) && !names.contains("apart"), "\(names)")
            // A child that bob saves belongs to the share.
            let reply = CKRecord(recordType: "Note", recordID: .init(recordName: "reply", zoneID: zone))
            reply.parent = CKRecord.Reference(
                recordID: .init(recordName: "last", zoneID: zone),
                action: .none
            )
            _ = try await there.sharedCloudDatabase.save(reply)

            for record in ["root", "last", "apart"] {
                let before = try await scene.access(to: record, in: scene.source.server.dataPath)
                let after = try await scene.access(to: record, in: scene.target.dataPath)
                #expect(after == before && (record == "apart") != after.contains("bob"), "\(after)")
            }
        }
    }

    @Test
    func `a participant who is no user there is not let in, and joins by the same URL`() async throws {
        try await BundleScene.run { scene in
            let bob = try await scene.newUser("bob")
            let share = try await Self.share(scene, with: bob)
            let there = scene.container(for: "bob")
            _ = try await there.userRecordID()
            let done = try await scene.importBundle([await scene.bundle()])
            #expect(done.exitCode == 0 && done.output.contains("1 user of the bundle"), "\(done.output)")
            #expect(try await there.sharedCloudDatabase.allRecordZones().isEmpty)
            let imported =
                try await scene.container(for: "alice").privateCloudDatabase
                .record(for: share.recordID) as? CKShare
            #expect(imported?.participants.count == 1)
            let url = try #require(imported?.url)
            #expect(url.lastPathComponent == share.url?.lastPathComponent)
            _ = try await there.accept(there.shareMetadata(for: url))
            #expect(try await there.sharedCloudDatabase.allRecordZones().count == 1)
        }
    }

    @Test
    func `the share of a whole zone travels with it`() async throws {
        try await BundleScene.run { scene in
            let bob = try await scene.newUser("bob")
            let database = scene.source.database()
            _ = try await database.save(scene.source.record("first"))
            let share = CKShare(recordZoneID: scene.source.zone)
            share.publicPermission = .readOnly
            let saved = try #require(try await database.save(share) as? CKShare)
            _ = try await bob.accept(bob.shareMetadata(for: #require(saved.url)))
            _ = try await scene.container(for: "bob").userRecordID()
            let name = try await scene.userRecordName(of: "bob", in: scene.source.server.dataPath)
            let done = try await scene.importBundle(
                [await scene.bundle(), "--map-user", "\(name)=bob"]
            )
            #expect(done.exitCode == 0, "\(done.errors)")
            let there = scene.container(for: "bob").sharedCloudDatabase
            let zone = try #require(try await there.allRecordZones().first).zoneID
            let record = try await there.record(for: .init(recordName: "first", zoneID: zone))
            #expect(record.recordType == "Note")
        }
    }
}
