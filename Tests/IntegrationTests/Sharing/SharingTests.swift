import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Sharing as two users of the SDK meet it.
struct SharingTests {
    @Test(.timeLimit(.minutes(10)))
    func `who has the URL of an open share joins it, reads it and writes in it`() async throws {
        try await SharingScene.run { scene in
            let share = try await scene.shareList { $0.publicPermission = .readWrite }
            #expect(share.url?.absoluteString.hasPrefix(scene.server.url + "/share/") == true)
            let metadata = try await scene.bob.shareMetadata(for: #require(share.url))
            #expect(metadata.share.recordID.recordName == share.recordID.recordName)
            #expect(metadata.share[CKShare.SystemFieldKey.title] as? String == "Alice's list")
            #expect(metadata.participantPermission == .readWrite && metadata.participantStatus != .accepted)
            let aliceName = try await scene.alice.userRecordID().recordName
            #expect(metadata.ownerIdentity.userRecordID?.recordName == aliceName)
            let root = try #require(metadata.hierarchicalRootRecordID)
            #expect(root.zoneID == CKRecordZone.ID(zoneName: "lists", ownerName: aliceName))

            let joined = try await scene.bob.accept(metadata)
            #expect(joined.currentUserParticipant?.acceptanceStatus == .accepted)
            let again = try await scene.bob.accept(metadata)
            #expect(again.participants.count == joined.participants.count)

            let database = scene.bob.sharedCloudDatabase
            let list = try await database.record(for: root)
            #expect(list["title"] as? String == "Groceries" && list.share?.recordID == joined.recordID)
            list["title"] = "More"
            try await database.modifyRecords(saving: [list, scene.note("bob", below: root)], deleting: [])
            let seen = try await scene.alice.privateCloudDatabase.records(for: [
                scene.id("list"), scene.id("bob"),
            ])
            #expect(try seen[scene.id("list")]?.get()["title"] as? String == "More")
            #expect(try seen[scene.id("bob")]?.get()["text"] as? String == "bob")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `who was invited joins, with the permission that he was given`() async throws {
        try await SharingScene.run { scene in
            let bob = try await scene.participant(scene.bob)
            bob.permission = .readOnly
            let share = try await scene.shareList { $0.addParticipant(bob) }
            #expect(share.participants.map(\.acceptanceStatus) == [.accepted, .pending])
            #expect(share.currentUserParticipant?.role == .owner)
            let joined = try await scene.join(share.url)
            #expect(joined.currentUserParticipant?.permission == .readOnly)
            let root = CKRecord.ID(recordName: "list", zoneID: joined.recordID.zoneID)
            let list = try await scene.bob.sharedCloudDatabase.record(for: root)
            list["title"] = "mine"
            await expect(.permissionFailure) { try await scene.bob.sharedCloudDatabase.save(list) }

            let mine = try await scene.alice.privateCloudDatabase.record(for: share.recordID)
            let theirs = try #require(mine as? CKShare)
            let other = try #require(theirs.participants.first { $0.role == .privateUser })
            #expect(other.acceptanceStatus == .accepted)
            other.permission = .readWrite
            try await scene.alice.privateCloudDatabase.save(theirs)
            try await scene.bob.sharedCloudDatabase.save(list)

            theirs.removeParticipant(other)
            try await scene.alice.privateCloudDatabase.save(theirs)
            let gone = await thrown { _ = try await scene.bob.sharedCloudDatabase.record(for: root) }
            #expect(gone != nil)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `who was not invited does not get in`() async throws {
        try await SharingScene.run { scene in
            let share = try await scene.shareList()
            let refusal = await thrown { try await scene.join(share.url) }
            let codes: [CKError.Code] = [.permissionFailure, .participantMayNeedVerification]
            #expect(refusal.map { codes.contains($0.code) } == true)
            let nothing = try #require(URL(string: scene.server.url + "/share/nothing"))
            let missing = await thrown { _ = try await scene.bob.shareMetadata(for: nothing) }
            #expect(missing?.code == .unknownItem)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a zone is shared with all that is in it`() async throws {
        try await SharingScene.run { scene in
            let share = CKShare(recordZoneID: scene.zone)
            share.publicPermission = .readWrite
            try await scene.alice.privateCloudDatabase.save(share)
            let zone = try await scene.alice.privateCloudDatabase.recordZone(for: scene.zone)
            #expect(zone.share?.recordID == share.recordID)
            let metadata = try await scene.bob.shareMetadata(for: #require(share.url))
            #expect(metadata.hierarchicalRootRecordID == nil && metadata.rootRecord == nil)
            let joined = try await scene.bob.accept(metadata)
            let zoneID = joined.recordID.zoneID
            #expect(try await scene.bob.sharedCloudDatabase.allRecordZones().map(\.zoneID) == [zoneID])
            let free = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "free", zoneID: zoneID))
            try await scene.bob.sharedCloudDatabase.save(free)
            _ = try await scene.alice.privateCloudDatabase.record(for: scene.id("free"))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a saved share has its URL when its block is called, and without a fetch the next time`()
        async throws
    {
        try await SharingScene.run { scene in
            let list = try await scene.alice.privateCloudDatabase.record(for: scene.id("list"))
            let share = CKShare(rootRecord: list)
            let urls = Collected<URL?>()
            let operation = CKModifyRecordsOperation(recordsToSave: [list, share])
            operation.perRecordSaveBlock = { _, result in
                if case .success(let saved as CKShare) = result { urls.append(saved.url) }
            }
            let ended = Collected<Bool>()
            await withCheckedContinuation { continuation in
                operation.modifyRecordsResultBlock = { result in
                    if case .success = result { ended.append(true) }
                    continuation.resume()
                }
                scene.alice.privateCloudDatabase.add(operation)
            }
            #expect(ended.values == [true] && urls.values.count == 1 && urls.values.first == share.url)
            #expect(share.url != nil)

            let note = try await scene.alice.privateCloudDatabase.save(CKRecordZone(zoneName: "other"))
            let other = CKShare(recordZoneID: note.zoneID)
            scene.server.faults.add(.fetch(.next), .failure(.serviceUnavailable))
            try await scene.alice.privateCloudDatabase.save(other)
            #expect(other.url == nil && other.recordChangeTag != nil)
            let fetched = try await scene.alice.privateCloudDatabase.record(for: other.recordID) as? CKShare
            #expect(fetched?.url != nil)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `one person joins with a URL of his own`() async throws {
        try await SharingScene.run { scene in
            let guest = CKShare.Participant.oneTimeURLParticipant()
            guest.permission = .readWrite
            let share = try await scene.shareList { $0.addParticipant(guest) }
            let url = try #require(share.oneTimeURL(for: guest.participantID))
            let joined = try await scene.join(url)
            #expect(joined.currentUserParticipant?.permission == .readWrite)
            let carol = try await scene.server.container(for: "carol")
            let late = await thrown {
                _ = try await carol.accept(carol.shareMetadata(for: url))
            }
            #expect(late != nil)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `who asks to be let in is let in by being added`() async throws {
        try await SharingScene.run { scene in
            let share = try await scene.shareList { $0.allowsAccessRequests = true }
            let url = try #require(share.url)
            _ = try await scene.bob.requestShareAccess(for: [url])[url]?.get()
            let fetched = try await scene.alice.privateCloudDatabase.record(for: share.recordID)
            let mine = try #require(fetched as? CKShare)
            let requester = try #require(mine.requesters.first)
            #expect(try await requester.userIdentity.userRecordID == scene.bob.userRecordID())
            let info = requester.participantLookupInfo
            let found = try await scene.alice.shareParticipants(for: [info])
            mine.addParticipant(try #require(try found[info]?.get()))
            try await scene.alice.privateCloudDatabase.save(mine)
            #expect(mine.requesters.isEmpty)
            #expect(mine.participants.map(\.isApprovedRequester) == [false, true])
            try await scene.join(url)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `changes of the shared database bring the zone, its records and the share`() async throws {
        try await SharingScene.run { scene in
            let share = try await scene.shareList { $0.publicPermission = .readOnly }
            let joined = try await scene.join(share.url)
            let database = scene.bob.sharedCloudDatabase
            let zones = try await database.databaseChanges(since: nil)
            #expect(zones.modifications.map(\.zoneID) == [joined.recordID.zoneID])
            let changes = try await database.recordZoneChanges(inZoneWith: joined.recordID.zoneID, since: nil)
            let records = try changes.modificationResultsByID.values.map { try $0.get().record }
            #expect(Set(records.map(\.recordID.recordName)) == ["list", "note", share.recordID.recordName])
            let found = try #require(records.compactMap { $0 as? CKShare }.first)
            #expect(found.url == share.url && found.currentUserParticipant?.role == .publicUser)
            try await database.deleteRecord(withID: joined.recordID)
            let left = await thrown {
                _ = try await database.record(
                    for: CKRecord.ID(recordName: "list", zoneID: joined.recordID.zoneID)
                )
            }
            #expect(left != nil)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `joining and asking survive a connection that breaks before the answer`() async throws {
        try await SharingScene.run { scene in
            let share = try await scene.shareList { $0.allowsAccessRequests = true }
            let url = try #require(share.url)
            scene.server.faults.add(.requestShareAccess(.next), .dropConnectionAfterCommit)
            _ = try await scene.bob.requestShareAccess(for: [url])[url]?.get()
            let asked = try await scene.alice.privateCloudDatabase.record(for: share.recordID)
            let mine = try #require(asked as? CKShare)
            #expect(mine.requesters.count == 1)
            mine.addParticipant(try await scene.participant(scene.bob))
            try await scene.alice.privateCloudDatabase.save(mine)
            scene.server.faults.add(.acceptShare(.next), .dropConnectionAfterCommit)
            let joined = try await scene.join(url)
            #expect(joined.currentUserParticipant?.acceptanceStatus == .accepted)
            #expect(scene.server.faults.happened == 2)
            let after = try await scene.alice.privateCloudDatabase.record(for: share.recordID) as? CKShare
            #expect(after?.participants.map(\.acceptanceStatus) == [.accepted, .accepted])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `what refers to a record with deleteSelf goes when a participant deletes it, shared or not`()
        async throws
    {
        try await SharingScene.run { scene in
            let database = scene.alice.privateCloudDatabase
            let receipt = CKRecord(recordType: "Receipt", recordID: scene.id("receipt"))
            receipt["of"] = CKRecord.Reference(recordID: scene.id("note"), action: .deleteSelf)
            let remark = CKRecord(recordType: "Remark", recordID: scene.id("remark"))
            remark["on"] = CKRecord.Reference(recordID: receipt.recordID, action: .deleteSelf)
            try await database.modifyRecords(saving: [receipt, remark], deleting: [])
            try await scene.join(try await scene.shareList { $0.publicPermission = .readWrite }.url)
            let zone = try #require(try await scene.bob.sharedCloudDatabase.allRecordZones().first?.zoneID)
            func shared(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone) }
            let hidden = await thrown {
                _ = try await scene.bob.sharedCloudDatabase.record(for: shared("receipt"))
            }
            #expect(hidden?.code == .unknownItem)
            try await scene.bob.sharedCloudDatabase.deleteRecord(withID: shared("note"))
            for id in [scene.id("note"), receipt.recordID, remark.recordID] {
                let gone = await thrown { _ = try await database.record(for: id) }
                #expect(gone?.code == .unknownItem)
            }
        }
    }
}
