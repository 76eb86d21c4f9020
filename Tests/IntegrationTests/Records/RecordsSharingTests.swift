import CloudKit
import Foundation
import TestSupport
import Testing

/// `tidemark records` in a zone that another user shares.
@Suite(.timeLimit(.minutes(10)))
struct RecordsSharingTests {
    @Test
    func `a participant saves what the share permits, and sees what its owner saves`() async throws {
        try await BackupScene.run { scene in
            let token = try await scene.server.administer(
                ["user", "add", "bob", "--container", BackupScene.containerID]
            ).trimmingCharacters(in: .newlines)
            let connection = CKServerConnection(
                url: "tidemark://localhost:\(scene.server.port)",
                token: token,
                certificateAuthority: .file(scene.server.authorityPath)
            )
            let bob = CKContainer(identifier: BackupScene.containerID, connection: connection)
            let root = scene.record("root", ["text": "x"])
            let share = CKShare(rootRecord: root)
            share.publicPermission = .readWrite
            let results = try await scene.database().modifyRecords(saving: [root, share], deleting: [])
            let saved = try #require(try results.saveResults[share.recordID]?.get() as? CKShare)
            _ = try await bob.accept(bob.shareMetadata(for: #require(saved.url)))
            let zone = try #require(try await bob.sharedCloudDatabase.allRecordZones().first).zoneID

            let before = try await bob.sharedCloudDatabase.databaseChanges(since: nil)
            let child =
                #"{"recordName":"child","recordType":"Note","zoneID":{"zoneName":"desk"},"parent":{"recordName":"root"},"fields":{"text":{"value":"y"}}}"#
            let owned = try await scene.save(child)
            #expect(owned.exitCode == 0, "\(owned.errors)")
            let after = try await bob.sharedCloudDatabase.databaseChanges(since: before.changeToken)
            #expect(after.modifications.map(\.zoneID.zoneName) == ["desk"])
            let place = ["--database", "shared", "--zone", "desk", "--owner", zone.ownerName]
            let seen = try await scene.records("get", ["child", "root"] + place, user: "bob")
            #expect(seen.exitCode == 0 && seen.objects.count == 2, "\(seen.errors)")

            let path = try scene.write(
                child.replacingOccurrences(of: "child", with: "theirs"),
                to: "theirs.json"
            )
            let theirs = try await scene.records("save", ["--file", path] + place, user: "bob")
            #expect(theirs.exitCode == 0, "\(theirs.errors)")
            let record = try await scene.database().record(for: scene.record("theirs").recordID)
            #expect(record.creatorUserRecordID?.recordName != CKCurrentUserDefaultName)
            // Nothing but what is below the root.
            let apart = try scene.write(recordText("apart", ""), to: "apart.json")
            let refused = try await scene.records("save", ["--file", apart] + place, user: "bob")
            #expect(refused.exitCode == 77, "\(refused.errors)")
            #expect(try await scene.names().contains("apart") == false)
        }
    }
}
