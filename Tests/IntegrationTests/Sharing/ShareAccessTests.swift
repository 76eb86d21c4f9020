import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Which users get into a share, and which stay, as its owner changes it.
@Suite(.timeLimit(.minutes(10)))
struct ShareAccessTests {
    @Test(arguments: [CKModifyRecordsOperation.RecordSavePolicy.changedKeys, .allKeys])
    func `a device that missed a removal does not invite again`(
        policy: CKModifyRecordsOperation.RecordSavePolicy
    ) async throws {
        try await SharingScene.run { scene in
            let database = scene.alice.privateCloudDatabase
            let bob = try await scene.participant(scene.bob)
            bob.permission = .readWrite
            let share = try await scene.shareList { $0.addParticipant(bob) }
            try await scene.join(share.url)
            let phone = try #require(try await database.record(for: share.recordID) as? CKShare)
            let laptop = try #require(try await database.record(for: share.recordID) as? CKShare)
            laptop.removeParticipant(laptop.participants[1])
            try await database.save(laptop)
            phone[CKShare.SystemFieldKey.title] = "Another title"
            phone.participants[1].permission = .readOnly
            let results = try await database.modifyRecords(
                saving: [phone],
                deleting: [],
                savePolicy: policy
            )
            let error = results.saveResults[phone.recordID]?.cloudKitError
            #expect(error?.code == .serverRecordChanged)
            let theirs = try #require(error?.serverRecord as? CKShare)
            #expect(theirs.participants.map(\.role) == [.owner])
            #expect(try await scene.bob.sharedCloudDatabase.allRecordZones().isEmpty)
        }
    }

    @Test func `a share that takes no requests answers one as a URL that leads nowhere`() async throws {
        try await SharingScene.run { scene in
            let closed = try #require(try await scene.shareList().url)
            let nothing = try #require(URL(string: scene.server.url + "/share/nothing"))
            let results = try await scene.bob.requestShareAccess(for: [closed, nothing])
            let errors = [closed, nothing].compactMap { results[$0]?.cloudKitError }
            #expect(errors.map(\.code) == [.unknownItem, .unknownItem])
            #expect(errors.first?.localizedDescription == errors.last?.localizedDescription)
            #expect(errors.first?.userInfo.keys.sorted() == errors.last?.userInfo.keys.sorted())
        }
    }

    @Test func `a participant who is blocked loses access`() async throws {
        try await SharingScene.run { scene in
            let database = scene.alice.privateCloudDatabase
            let share = try await scene.shareList { $0.allowsAccessRequests = true }
            let url = try #require(share.url)
            _ = try await scene.bob.requestShareAccess(for: [url])[url]?.get()
            let asked = try #require(try await database.record(for: share.recordID) as? CKShare)
            let requesters = asked.requesters
            asked.addParticipant(try await scene.participant(scene.bob))
            try await database.save(asked)
            try await scene.join(url)
            let joined = try #require(try await database.record(for: share.recordID) as? CKShare)
            joined.blockRequesters(requesters)
            try await database.save(joined)
            #expect(joined.participants.map(\.role) == [.owner])
            #expect(joined.blockedIdentities.count == 1)
            #expect(try await scene.bob.sharedCloudDatabase.allRecordZones().isEmpty)
            let again = await thrown { try await scene.join(url) }
            #expect(again?.code == .permissionFailure)
        }
    }

    @Test func `who was invited and has joined stays when everybody may join, and afterwards`() async throws {
        try await SharingScene.run { scene in
            let bob = try await scene.participant(scene.bob)
            bob.permission = .readWrite
            let share = try await scene.shareList { $0.addParticipant(bob) }
            try await scene.join(share.url)
            let database = scene.alice.privateCloudDatabase
            let fetched = try #require(try await database.record(for: share.recordID) as? CKShare)
            fetched.publicPermission = .readOnly
            try await database.save(fetched)
            #expect(fetched.participants.map(\.role) == [.owner, .privateUser])
            let zone = try #require(try await scene.bob.sharedCloudDatabase.allRecordZones().first?.zoneID)
            let list = CKRecord.ID(recordName: "list", zoneID: zone)
            let note = try await scene.bob.sharedCloudDatabase.save(scene.note("Bob's", below: list))
            #expect(note.recordChangeTag != nil)
            let carol = try await scene.server.container(for: "carol")
            try await carol.accept(try await carol.shareMetadata(for: try #require(share.url)))
            let open = try #require(try await database.record(for: share.recordID) as? CKShare)
            #expect(open.participants.map(\.role) == [.owner, .privateUser, .publicUser])
            open.publicPermission = .none
            let shown = open.participants.map(\.role)
            try await database.save(open)
            #expect(open.participants.map(\.role) == shown && shown == [.owner, .privateUser])
            #expect(try await scene.bob.sharedCloudDatabase.record(for: list).recordType == "List")
            #expect(try await carol.sharedCloudDatabase.allRecordZones().isEmpty)
        }
    }

    @Test func `a participant who deletes the zone may come back, and one who deletes the list may not`()
        async throws
    {
        try await SharingScene.run { scene in
            let database = scene.alice.privateCloudDatabase
            let shared = scene.bob.sharedCloudDatabase
            let bob = try await scene.participant(scene.bob)
            bob.permission = .readOnly
            let share = try await scene.shareList { $0.addParticipant(bob) }
            func statuses() async throws -> [CKShare.ParticipantAcceptanceStatus] {
                let fetched = try #require(try await database.record(for: share.recordID) as? CKShare)
                return fetched.participants.map(\.acceptanceStatus)
            }
            try await scene.join(share.url)
            let zone = try #require(try await shared.allRecordZones().first?.zoneID)
            try await shared.deleteRecordZone(withID: zone)
            #expect(try await statuses() == [.accepted, .pending])
            #expect(try await shared.allRecordZones().isEmpty)
            let metadata = try await scene.bob.shareMetadata(for: #require(share.url))
            #expect(metadata.participantStatus == .pending && metadata.participantPermission == .readOnly)
            try await scene.bob.accept(metadata)
            #expect(try await statuses() == [.accepted, .accepted])
            let list = CKRecord.ID(recordName: "list", zoneID: zone)
            #expect(try await shared.deleteRecord(withID: list) == list)
            #expect(try await statuses() == [.accepted])
            #expect(try await shared.allRecordZones().isEmpty)
            await expect(.permissionFailure) { try await scene.join(share.url) }
            #expect(try await database.record(for: scene.id("list")).share?.recordID == share.recordID)
        }
    }

    @Test func `who is invited and asks for access is told to accept`() async throws {
        try await SharingScene.run { scene in
            let bob = try await scene.participant(scene.bob)
            let share = try await scene.shareList { $0.addParticipant(bob) }
            let url = try #require(share.url)
            let asked = try await scene.bob.requestShareAccess(for: [url])
            #expect(asked[url]?.cloudKitError?.code == .participantAlreadyInvited)
            #expect(asked[url]?.cloudKitError?.retryAdvice == .afterChange)
            try await scene.join(url)
            _ = try await scene.bob.requestShareAccess(for: [url])[url]?.get()
        }
    }

    @Test func `a list that is shared no more can be saved on, and shared again under its URL`() async throws
    {
        try await SharingScene.run { scene in
            let database = scene.alice.privateCloudDatabase
            let share = try await scene.shareList()
            let url = try #require(share.url)
            let list = try await database.record(for: scene.id("list"))
            #expect(list.share?.recordID == share.recordID)
            list["title"] = "Mine alone"
            let results = try await database.modifyRecords(saving: [list], deleting: [share.recordID])
            _ = try results.deleteResults[share.recordID]?.get()
            let saved = try #require(try results.saveResults[list.recordID]?.get())
            #expect(saved.share == nil)
            // The tag that came back is the record's: there is no conflict.
            saved["title"] = "Still mine"
            try await database.save(saved)
            #expect(try await database.record(for: list.recordID).share == nil)
            #expect(try await scene.shareList().url == url)
        }
    }
}
