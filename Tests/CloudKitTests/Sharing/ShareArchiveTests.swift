import Foundation
import RecordModel
import Testing

@testable import CloudKit

private func roundTrip<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data))
}

private func systemFields(_ record: CKRecord) -> Data {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    record.encodeSystemFields(with: archiver)
    return archiver.encodedData
}

struct ShareArchiveTests {
    private func share() -> CKShare {
        var server = serverShare([person("A", user: "_ann", email: "ann@example.org", acceptance: .pending)])
        server.requesters = ["_r", "_s"].map { UserIdentity(userRecordName: $0) }
        let share = fetchedShare(server, fields: [Field(name: "cloudkit_title", value: .string("t"))])
        share.participants[1].permission = .readOnly
        share.addParticipant(CKShare.Participant(person("B", email: "bob@example.org", acceptance: .pending)))
        share.denyRequesters([share.requesters[0]])
        share.allowsAccessRequests = true
        share["color"] = "red"
        return share
    }

    @Test func `keeps a share with its participants and what was changed`() throws {
        let share = self.share()
        let copy = try roundTrip(share)
        #expect(copy.url == share.url && copy.recordChangeTag == "t1")
        #expect(copy.participants == share.participants)
        #expect(copy.participants.map(\.permission) == [.readWrite, .readOnly, .readWrite])
        #expect(copy.currentUserParticipant?.participantID == "O")
        #expect(copy.requesters == share.requesters && copy.requesters.count == 1)
        #expect(copy[CKShare.SystemFieldKey.title] as? String == "t" && copy.changedKeys() == ["color"])
        #expect(try copy.changes() == share.changes())
        #expect(try share.changes().participants.map(\.id) == ["A", "B"])
    }

    @Test func `of system fields keeps all of a share but its fields`() throws {
        let share = self.share()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: systemFields(share))
        unarchiver.requiresSecureCoding = true
        let copy = CKShare(coder: unarchiver)
        #expect(copy.recordID == share.recordID && copy.recordChangeTag == "t1" && copy.url == share.url)
        #expect(copy.participants == share.participants && copy.allKeys().isEmpty)
        #expect(try copy.changes() == share.changes())
        #expect(systemFields(copy) == systemFields(share))
    }

    @Test func `of a root keeps its share, and of a zone`() throws {
        let list = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "list", zoneID: sharedZone))
        let share = CKShare(rootRecord: list)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: systemFields(list))
        #expect(CKRecord(coder: unarchiver)?.share?.recordID == share.recordID)
        let model = Zone(id: sharedZone.model, capabilities: [.sharing], share: "cloudkit.zoneshare")
        let zone = CKRecordZone(model)
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: sharedZone)
        #expect(zone.share == CKRecord.Reference(recordID: id, action: .none))
        #expect(
            try roundTrip(zone).share == zone.share && (zone.copy() as? CKRecordZone)?.share == zone.share
        )
        #expect(try roundTrip(CKRecordZone(zoneID: sharedZone)).share == nil)
    }

    @Test func `that has no share makes one that can't be saved`() throws {
        let record = CKRecord(recordType: "List")
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: systemFields(record))
        let share = CKShare(coder: unarchiver)
        #expect { try share.changes() } throws: { code($0) == 12 }
    }

    @Test func `keeps people`() throws {
        var model = person("A", .administrator, user: "_a", email: "a@example.org", permission: .readOnly)
        model.isApprovedRequester = true
        model.addedMilliseconds = 7_000
        let participant = try roundTrip(CKShare.Participant(model))
        #expect(participant.model == model && participant.dateAddedToShare == Date(timeIntervalSince1970: 7))
        #expect(participant.isApprovedRequester)
        let identity = CKUserIdentity(model.identity)
        #expect(try roundTrip(identity) == identity)
        let info = CKUserIdentity.LookupInfo(phoneNumber: "+49 30 1")
        #expect(try roundTrip(info) == info && info.phoneNumber == "+49 30 1" && info.emailAddress == nil)
        let requester = CKShare.AccessRequester(model.identity)
        #expect(try roundTrip(requester) == requester)
        let blocked = CKShare.BlockedIdentity(model.identity)
        #expect(try roundTrip(blocked) == blocked)
        let options = CKAllowedSharingOptions.standard
        options.allowedParticipantPermissionOptions = .readOnly
        options.allowsAccessRequests = true
        let kept = try roundTrip(options)
        #expect(kept.allowedParticipantPermissionOptions == .readOnly)
        #expect(kept.allowedParticipantAccessOptions == [.anyoneWithLink, .specifiedRecipientsOnly])
        #expect(kept.allowsAccessRequests && !kept.allowsParticipantsToInviteOthers)
    }

    @Test func `keeps what a URL led to`() throws {
        let root = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "list", zoneID: sharedZone))
        root["title"] = "t"
        let model = ShareMetadata(
            container: "org.example",
            share: shareRecord(serverShare()),
            rootRecordName: "list",
            role: .privateUser,
            acceptance: .pending,
            permission: .readOnly,
            owner: UserIdentity(userRecordName: "_me")
        )
        let metadata = CKShare.Metadata(model, share: fetchedShare(), rootRecord: root, token: "once")
        let kept = try roundTrip(metadata)
        #expect(kept == metadata && kept.hash == metadata.hash && kept.token == "once")
        #expect(kept.share.url == metadata.share.url && kept.rootRecord?["title"] as? String == "t")
        #expect(kept.hierarchicalRootRecordID == root.recordID && kept.containerIdentifier == "org.example")
        #expect(kept.participantRole == .privateUser && kept.participantStatus == .pending)
        #expect(kept.participantPermission == .readOnly)
        #expect(kept.ownerIdentity.userRecordID?.recordName == "_me")
        let other = CKShare.Metadata(model, share: fetchedShare(), rootRecord: nil, token: "token-1")
        #expect(try roundTrip(other).rootRecord == nil && other != metadata)
    }
}
