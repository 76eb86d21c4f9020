import CloudKit
import CloudKitTesting
import Testing

private func sharedList(in database: CKDatabase) async throws -> (share: CKShare, item: CKRecord) {
    // <block> Share by URL
    let zone = try await database.save(CKRecordZone(zoneName: "Lists"))
    let list = CKRecord(recordType: "List", recordID: CKRecord.ID(zoneID: zone.zoneID))
    let item = CKRecord(recordType: "Item", recordID: CKRecord.ID(zoneID: zone.zoneID))
    item.setParent(list)
    let share = CKShare(rootRecord: list)
    share.publicPermission = .readWrite
    let (results, _) = try await database.modifyRecords(saving: [list, item, share], deleting: [])
    _ = try results[share.recordID]?.get()
    print(share.url?.absoluteString ?? "")
    // </block>
    return (share, item)
}

@Suite(.timeLimit(.minutes(10)))
struct Sharing {
    @Test
    func `a list is shared by its URL`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let container = try await server.container(for: "bob")
            let (share, item) = try await sharedList(in: database)
            let url = try #require(share.url)
            // <block> Join
            let metadata = try await container.shareMetadata(for: url)
            try await container.accept(metadata)
            let shared = container.sharedCloudDatabase
            for zone in try await shared.allRecordZones() { print(zone.zoneID) }
            // </block>
            let listID = try #require(metadata.hierarchicalRootRecordID)
            #expect(try await shared.record(for: listID).recordType == "List")
            let itemID = CKRecord.ID(recordName: item.recordID.recordName, zoneID: listID.zoneID)
            #expect(try await shared.record(for: itemID).recordType == "Item")
        }
    }

    @Test
    func `a user is invited by e-mail, and is let go`() async throws {
        try await TestServer.run { server in
            try await server.setContacts(emails: ["bob@example.org"], of: "bob")
            let container = try await server.container(for: "alice")
            let database = container.privateCloudDatabase
            let bob = try await server.container(for: "bob")
            let zone = try await database.save(CKRecordZone(zoneName: "Lists"))
            let list = CKRecord(recordType: "List", recordID: CKRecord.ID(zoneID: zone.zoneID))
            // <block> Invite one user
            let share = CKShare(rootRecord: list)
            let participant = try await container.shareParticipant(forEmailAddress: "bob@example.org")
            participant.permission = .readWrite
            share.addParticipant(participant)
            let (results, _) = try await database.modifyRecords(saving: [list, share], deleting: [])
            _ = try results[share.recordID]?.get()
            // </block>
            try await bob.accept(bob.shareMetadata(for: try #require(share.url)))
            #expect(try await bob.sharedCloudDatabase.allRecordZones().count == 1)
            // <block> End a share
            guard let saved = try await database.record(for: share.recordID) as? CKShare else { return }
            for participant in saved.participants where participant.role != .owner {
                saved.removeParticipant(participant)
            }
            try await database.save(saved)
            // </block>
            #expect(try await bob.sharedCloudDatabase.allRecordZones().isEmpty)
        }
    }
}
