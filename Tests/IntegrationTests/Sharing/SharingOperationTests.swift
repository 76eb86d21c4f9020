import CloudKit
import CloudKitTesting
import Foundation
import RecordModel
import Testing

/// Sharing by operations, and shares that others changed meanwhile.
struct SharingOperationTests {
    @Test(.timeLimit(.minutes(10)))
    func `operations find out what URLs lead to, and join`() async throws {
        try await SharingScene.run { scene in
            let url = try #require(try await scene.shareList { $0.publicPermission = .readOnly }.url)
            let nothing = try #require(URL(string: scene.server.url + "/share/nothing"))
            let found = Collected<CKShare.Metadata>()
            let failed = Collected<URL>()
            let error: (any Error)? = await withCheckedContinuation { continuation in
                let operation = CKFetchShareMetadataOperation(shareURLs: [url, nothing])
                operation.shouldFetchRootRecord = true
                operation.rootRecordDesiredKeys = ["other"]
                operation.perShareMetadataResultBlock = { url, result in
                    switch result {
                    case .success(let metadata): found.append(metadata)
                    case .failure: failed.append(url)
                    }
                }
                operation.fetchShareMetadataCompletionBlock = { continuation.resume(returning: $0) }
                scene.bob.add(operation)
            }
            let errors = try #require((error as? CKError)?.partialErrorsByItemID)
            #expect((errors[nothing] as? CKError)?.code == .unknownItem && errors.count == 1)
            #expect(failed.values == [nothing])
            let metadata = try #require(found.values.first)
            #expect(metadata.share.url == url)
            let root = try #require(metadata.rootRecord)
            #expect(root.recordID == metadata.hierarchicalRootRecordID && root.allKeys().isEmpty)
            #expect(root.share?.recordID == metadata.share.recordID)

            let joined = Collected<CKShare>()
            await withCheckedContinuation { continuation in
                let operation = CKAcceptSharesOperation(shareMetadatas: [metadata])
                operation.perShareResultBlock = { _, result in
                    if case .success(let share) = result { joined.append(share) }
                }
                operation.acceptSharesResultBlock = { _ in continuation.resume() }
                scene.bob.add(operation)
            }
            #expect(joined.values.map(\.recordID) == [metadata.share.recordID])
            #expect(joined.values.first?.currentUserParticipant?.permission == .readOnly)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a zone can't be created in the shared database`() async throws {
        try await SharingScene.run { scene in
            let database = scene.bob.sharedCloudDatabase
            await expect(.badDatabase) { try await database.save(CKRecordZone(zoneName: "mine")) }
            let owner = try await scene.alice.userRecordID().recordName
            let theirs = CKRecordZone.ID(zoneName: "lists", ownerName: owner)
            await expect(.badDatabase) { try await database.save(CKRecordZone(zoneID: theirs)) }
            #expect(try await database.deleteRecordZone(withID: theirs) == theirs, "nothing of it is shared")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a share that somebody joined meanwhile is a conflict, and the server's share can be saved`()
        async throws
    {
        try await SharingScene.run { scene in
            let bob = try await scene.participant(scene.bob)
            let carol = try await scene.participant(scene.server.container(for: "carol"))
            let share = try await scene.shareList { $0.addParticipant(bob) }
            try await scene.join(share.url)
            share.addParticipant(carol)
            let error = await thrown { try await scene.alice.privateCloudDatabase.save(share) }
            #expect(error?.code == .serverRecordChanged)
            let theirs = try #require(error?.serverRecord as? CKShare)
            #expect(theirs.url == share.url)
            #expect(theirs.participants.map(\.acceptanceStatus) == [.accepted, .accepted])
            theirs.addParticipant(carol)
            try await scene.alice.privateCloudDatabase.save(theirs)
            #expect(theirs.participants.map(\.acceptanceStatus) == [.accepted, .accepted, .pending])
            #expect(theirs.participants[2] === carol && carol.dateAddedToShare != nil)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a share that is opened and closed again has who may be in it, here and on the server`()
        async throws
    {
        try await SharingScene.run { scene in
            let bob = try await scene.participant(scene.bob)
            let share = try await scene.shareList { $0.addParticipant(bob) }
            let database = scene.alice.privateCloudDatabase
            share.publicPermission = .readOnly
            try await database.save(share)
            #expect(share.participants.map(\.role) == [.owner])
            try await scene.join(share.url)
            let fetched = try await database.record(for: share.recordID)
            let open = try #require(fetched as? CKShare)
            #expect(open.participants.map(\.role) == [.owner, .publicUser])
            open.publicPermission = .none
            let shown = open.participants.map(\.participantID)
            try await database.save(open)
            #expect(open.participants.map(\.participantID) == shown && shown.count == 1)
            let again = try await scene.participant(scene.bob)
            open.addParticipant(again)
            open.allowsAccessRequests = true
            try await database.save(open)
            #expect(open.participants.map(\.role) == [.owner, .privateUser] && open.allowsAccessRequests)
            open.removeParticipant(open.participants[1])
            open.publicPermission = .readWrite
            try await database.save(open)
            #expect(open.participants.map(\.role) == [.owner] && open.publicPermission == .readWrite)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `who tries too many URLs is told when to come back, and others are not`() async throws {
        var options = TestServer.Options()
        options.bounds.shareMissesPerMinuteMax = 6
        try await SharingScene.run(options) { scene in
            scene.server.clock.stop()
            let url = try #require(try await scene.shareList { $0.publicPermission = .readOnly }.url)
            let guesses = (0..<5).compactMap { URL(string: scene.server.url + "/share/guess\($0)") }
            let results = try await scene.bob.shareMetadatas(for: [url] + guesses)
            #expect(guesses.allSatisfy { results[$0]?.cloudKitError?.code == .unknownItem })
            #expect(results[url]?.cloudKitError == nil)
            _ = await thrown { _ = try await scene.bob.shareMetadata(for: guesses[0]) }
            let refused = await thrown { _ = try await scene.bob.shareMetadata(for: url) }
            #expect(refused?.code == .requestRateLimited)
            #expect(refused?.retryAfterSeconds == 10)
            _ = try await scene.server.container(for: "carol").shareMetadata(for: url)
            scene.server.clock.advance(by: .seconds(10))
            try await scene.join(url)
        }
    }
}
