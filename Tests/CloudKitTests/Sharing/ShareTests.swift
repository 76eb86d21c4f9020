import Foundation
import RecordModel
import Testing
import WireProtocol

@testable import CloudKit

struct ShareTests {
    private let list = CKRecord(
        recordType: "List",
        recordID: CKRecord.ID(recordName: "list", zoneID: sharedZone)
    )

    @Test func `the share of a record is in its zone, and the record knows it`() throws {
        let share = CKShare(rootRecord: self.list)
        #expect(share.recordType == CKRecord.SystemType.share)
        #expect(share.recordID.zoneID == sharedZone && share.recordID.recordName.hasPrefix("Share-"))
        #expect(self.list.share == CKRecord.Reference(recordID: share.recordID, action: .none))
        #expect(self.list.allKeys().isEmpty && self.list.changedKeys().isEmpty)
        #expect(try share.changes() == ShareChanges(root: "list"))
        let named = CKShare(
            rootRecord: self.list,
            shareID: CKRecord.ID(recordName: "mine", zoneID: sharedZone)
        )
        #expect(named.recordID.recordName == "mine")
        #expect(self.list.share?.recordID == named.recordID)
    }

    @Test func `the share of a zone has its name and no root`() throws {
        let share = CKShare(recordZoneID: sharedZone)
        #expect(share.recordID.recordName == CKRecordNameZoneWideShare)
        #expect(try share.changes() == ShareChanges(root: nil))
    }

    @Test(arguments: [true, false])
    func `before its first save a share has its owner, the current user, and no URL`(ofZone: Bool) {
        let share = ofZone ? CKShare(recordZoneID: sharedZone) : CKShare(rootRecord: self.list)
        #expect(share.url == nil && share.currentUserParticipant === share.owner)
        #expect(share.publicPermission == .none && !share.allowsAccessRequests)
        #expect(share.participants.map(\.role) == [.owner])
        #expect(share.owner === share.participants[0])
        #expect(share.owner.permission == .readWrite && share.owner.acceptanceStatus == .accepted)
        #expect(share.requesters.isEmpty && share.blockedIdentities.isEmpty)
    }

    @Test func `the owner of a new share may be changed, but not be made another participant`() throws {
        let share = CKShare(rootRecord: self.list)
        let owner = try #require(share.currentUserParticipant)
        owner.permission = .readOnly
        #expect(try share.changes() == ShareChanges(root: "list"))
        let copy = try #require(share.copy() as? CKShare)
        #expect(copy.currentUserParticipant?.permission == .readOnly)
        owner.role = .administrator
        #expect(share.currentUserParticipant === owner)
        #expect { try share.changes() } throws: { code($0) == 12 }
        owner.role = .owner
        #expect(try share.changes() == ShareChanges(root: "list"))
    }

    @Test func `a share from a server has a URL and participants`() throws {
        let ann = person("A", user: "_ann", email: "ann@example.org", acceptance: .pending)
        let share = fetchedShare(serverShare([ann], publicPermission: .readOnly))
        #expect(share.url == URL(string: "tidemark://example.org/share/token-1"))
        #expect(share.publicPermission == .readOnly)
        #expect(share.participants.map(\.participantID) == ["O", "A"])
        #expect(share.owner.userIdentity.userRecordID == CKRecord.ID(recordName: "_me"))
        #expect(share.currentUserParticipant === share.participants[0])
        let other = share.participants[1]
        #expect(other.role == .privateUser && other.permission == .readWrite)
        #expect(other.acceptanceStatus == .pending)
        #expect(other.userIdentity.lookupInfo?.emailAddress == "ann@example.org")
        #expect(other.userIdentity.hasiCloudAccount && other.userIdentity.nameComponents == nil)
    }

    @Test func `fields of the system are no keys`() throws {
        let share = fetchedShare(fields: [Field(name: "note", value: .string("n"))])
        #expect(share.allKeys() == ["note"] && share.map(\.0) == ["note"])
        #expect(share[ShareRecord.contentsField] == nil)
        let root = CKRecord.made(
            of: Record(
                id: RecordID(zone: sharedZone.model, recordName: "list"),
                recordType: "List",
                changeTag: "t",
                system: shareRecord(serverShare()).system,
                body: RecordBody([
                    Field(
                        name: "___share",
                        value: .reference(Reference(recordName: "share-1", action: .none))
                    ),
                    Field(name: "title", value: .string("t")),
                ])
            ),
            currentUser: "_me"
        )
        #expect(root.share == CKRecord.Reference(recordID: share.recordID, action: .none))
        #expect(root.allKeys() == ["title"] && root["___share"] == nil)
        #expect(try root.save(policy: .allKeys).changes.fields.map(\.name) == ["title"])
        #expect(try root.save(policy: .allKeys).share == .none)
    }

    @Test func `its own keys travel under names without dots`() throws {
        let share = CKShare(rootRecord: self.list)
        share[CKShare.SystemFieldKey.title] = "Groceries"
        share[CKShare.SystemFieldKey.thumbnailImageData] = Data([1])
        share[CKShare.SystemFieldKey.shareType] = "org.example.list"
        share["color"] = "red"
        let save = try share.save(policy: .ifServerRecordUnchanged)
        #expect(
            save.changes.fields.map(\.name)
                == ["cloudkit_thumbnailImageData", "cloudkit_title", "cloudkit_type", "color"]
        )
        let keys = ["cloudkit.thumbnailImageData", "cloudkit.title", "cloudkit.type", "color"]
        #expect(share.allKeys() == keys && share.changedKeys() == keys)
        let fetched = fetchedShare(fields: save.changes.fields)
        #expect(fetched[CKShare.SystemFieldKey.title] as? String == "Groceries")
        #expect(fetched.allKeys() == keys && fetched.changedKeys().isEmpty)
        self.list["cloudkit.title"] = "x"
        #expect { try self.list.save(policy: .allKeys) } throws: { code($0) == 12 }
    }

    @Test func `only what differs from the server is sent`() throws {
        let ann = person("A", user: "_ann")
        let share = fetchedShare(serverShare([ann, person("B", user: "_bob")]))
        #expect(try share.changes() == ShareChanges(root: "list"))
        share.participants[1].permission = .readOnly
        share.participants[2].role = .administrator
        share.allowsAccessRequests = true
        var expected = ShareChanges(root: "list")
        expected.allowsAccessRequests = true
        expected.participants = [
            person("A", user: "_ann", permission: .readOnly), person("B", .administrator, user: "_bob"),
        ]
        #expect(try share.changes() == expected)
        share.participants[1].permission = .readWrite
        share.participants[2].role = .privateUser
        share.allowsAccessRequests = false
        #expect(try share.changes() == ShareChanges(root: "list"))
    }

    @Test func `an existing participant gets the new role and permission`() throws {
        let share = fetchedShare(serverShare([person("A", user: "_ann", email: "ann@example.org")]))
        let again = CKShare.Participant(person("X", user: "_ann", permission: .readOnly))
        share.addParticipant(again)
        #expect(share.participants.count == 2 && share.participants[1].permission == .readOnly)
        #expect(try share.changes().participants.map(\.id) == ["A"])
        share.removeParticipant(again)
        #expect(try share.changes().removed == ["A"])
        share.addParticipant(again)
        #expect(again.participantID == "A")
        #expect(try share.changes().removed.isEmpty)
        #expect(
            try share.changes().participants == [
                person("A", user: "_ann", email: "ann@example.org", permission: .readOnly)
            ]
        )
    }

    @Test func `participants come and go only while the public permission is none`() throws {
        let share = fetchedShare(serverShare([person("A", user: "_ann")], publicPermission: .readOnly))
        let bob = CKShare.Participant(person("B", email: "bob@example.org", acceptance: .pending))
        share.addParticipant(bob)
        #expect { try share.changes() } throws: { code($0) == 12 }
        share.publicPermission = .none
        #expect(try share.changes().participants.map(\.id) == ["B"], "the value at the save counts")
        #expect(try share.changes().publicPermission == SharePermission.none)
        let other = fetchedShare(serverShare([person("A", user: "_ann")], publicPermission: .readOnly))
        other.removeParticipant(other.participants[1])
        #expect { try other.changes() } throws: { code($0) == 12 }
        other.publicPermission = .none
        #expect(try other.changes().removed == ["A"])
        let closed = fetchedShare(serverShare([person("A", user: "_ann")]))
        closed.removeParticipant(closed.participants[1])
        closed.publicPermission = .readWrite
        #expect(try closed.changes().removed == ["A"], "he is removed before everybody may join")
    }

    @Test func `a public permission removes invitations, and its end removes those who joined by the URL`()
        throws
    {
        let pending = person("P", email: "p@example.org", acceptance: .pending)
        let share = fetchedShare(serverShare([pending, person("A", user: "_ann")]))
        share.publicPermission = .readWrite
        #expect(share.participants.map(\.participantID) == ["O", "A"])
        let changes = try share.changes()
        #expect(changes.publicPermission == .readWrite && changes.removed.isEmpty)
        share.publicPermission = .none
        #expect(share.participants.map(\.participantID) == ["O", "A"])
        #expect(try share.changes().removed == ["P"], "the server would keep the invitation otherwise")
        let open = fetchedShare(
            serverShare(
                [
                    person("U", .publicUser, user: "_u"), person("A", user: "_ann"),
                    person("D", .administrator, user: "_d"),
                    person("P", user: "_p", acceptance: .pending),
                ],
                publicPermission: .readOnly
            )
        )
        open.publicPermission = .none
        #expect(open.participants.map(\.participantID) == ["O", "A", "D", "P"])
        #expect(try open.changes().removed.isEmpty && open.changes().participants.isEmpty)
        let reopened = try #require(open.copy() as? CKShare)
        reopened.publicPermission = .readOnly
        #expect(try reopened.changes().removed == ["U", "P"], "who went is gone, though all may join again")
        let again = CKShare.Participant(person("X", user: "_u"))
        open.addParticipant(again)
        #expect(try open.changes().participants == [again.model], "the save would remove them otherwise")
    }

    @Test func `a share sends what differs, and the tag that it knows, whatever the policy`() throws {
        let share = fetchedShare(fields: [Field(name: "note", value: .string("n"))])
        share["title"] = "t"
        let save = try share.save(policy: .allKeys)
        #expect(save.changes.fields.map(\.name) == ["title"] && save.changeTag == "t1")
    }

    @Test func `a root that is saved as its share is deleted has no share any more`() throws {
        let share = CKShare(rootRecord: self.list)
        let other = CKRecord(recordType: "List", recordID: CKRecord.ID(zoneID: sharedZone))
        let request = try RecordModification(
            saving: [self.list, other],
            deleting: [share.recordID],
            policy: .ifServerRecordUnchanged,
            isAtomic: true,
            scope: .private
        )
        let saved = RecordSaved(changeTag: "t2", system: shareRecord(serverShare()).system)
        let item = Item(index: 0, outcome: .recordSaved(saved))
        guard case .value(_, .success(let record))? = request.result(of: item, user: "_me") else {
            Issue.record("the root was not saved")
            return
        }
        #expect(record === self.list && record.share == nil && record.recordChangeTag == "t2")
        _ = CKShare(rootRecord: other)
        _ = request.result(of: Item(index: 1, outcome: .recordSaved(saved)), user: "_me")
        #expect(other.share != nil)
    }

    @Test func `an impossible share is refused when it is saved`() throws {
        let owner = fetchedShare()
        owner.removeParticipant(owner.owner)
        #expect { try owner.changes() } throws: { code($0) == 12 }
        owner.addParticipant(CKShare.Participant(person("O", .owner, user: "_me")))
        #expect(try owner.changes() == ShareChanges(root: "list"))
        owner.owner.permission = .readOnly
        #expect { try owner.changes() } throws: { code($0) == 12 }
        for (role, permission) in [
            (ShareRole.owner, SharePermission.readOnly), (.publicUser, .readOnly), (.unknown, .readOnly),
            (.privateUser, .unknown),
        ] {
            let share = CKShare(rootRecord: self.list)
            share.addParticipant(CKShare.Participant(person("A", role, user: "_a", permission: permission)))
            #expect { try share.changes() } throws: { code($0) == 12 }
        }
        let far = CKShare(rootRecord: self.list, shareID: CKRecord.ID(recordName: "s"))
        #expect { try far.changes() } throws: { code($0) == 12 }
        let long = CKShare(rootRecord: self.list)
        long.addParticipant(CKShare.Participant(person("A", email: String(repeating: "a", count: 256))))
        #expect { try long.changes() } throws: { code($0) == 12 }
        long.publicPermission = .unknown
        #expect { try long.changes() } throws: { code($0) == 12 }
        let record = CKRecord(
            recordType: CKRecord.SystemType.share,
            recordID: CKRecord.ID(zoneID: sharedZone)
        )
        #expect { try record.save(policy: .allKeys) } throws: { code($0) == 12 }
    }

    @Test(arguments: [99, 100])
    func `a share has at most 100 participants, its owner among them`(invited: Int) throws {
        let share = CKShare(rootRecord: self.list)
        for number in 0..<invited {
            share.addParticipant(CKShare.Participant(person("P\(number)", email: "p\(number)@example.org")))
        }
        if invited == 99 {
            #expect(try share.changes().participants.count == 99)
        } else {
            #expect { try share.changes() } throws: { code($0) == 29 }
        }
    }

    @Test func `an invited participant gets a URL of their own from the server`() throws {
        let share = CKShare(rootRecord: self.list)
        let guest = CKShare.Participant.oneTimeURLParticipant()
        share.addParticipant(guest)
        share.addParticipant(CKShare.Participant.oneTimeURLParticipant())
        #expect(share.participants.count == 3, "nobody is the same as nobody else")
        #expect(share.oneTimeURL(for: guest.participantID) == nil)
        let sent = try share.changes()
        #expect(sent.participants.map(\.identity) == [UserIdentity(), UserIdentity()])
        var server = guest.model
        server.oneTimeToken = "once"
        let fetched = fetchedShare(serverShare([server]))
        #expect(
            fetched.oneTimeURL(for: guest.participantID) == URL(string: "tidemark://example.org/share/once")
        )
        #expect(fetched.oneTimeURL(for: "O") == nil && fetched.oneTimeURL(for: "nobody") == nil)
    }

    @Test func `requests to be let in are denied, blocked and unblocked with the next save`() throws {
        var server = serverShare()
        server.requesters = ["_a", "_b"].map { UserIdentity(userRecordName: $0) }
        server.blocked = [UserIdentity(userRecordName: "_c")]
        let share = fetchedShare(server)
        let requesters = share.requesters
        #expect(requesters.map(\.userIdentity.userRecordID?.recordName) == ["_a", "_b"])
        #expect(requesters[0].participantLookupInfo.userRecordID?.recordName == "_a")
        share.denyRequesters([requesters[0]])
        share.blockRequesters([requesters[1]])
        share.unblockIdentities(
            share.blockedIdentities.filter { $0.userIdentity.userRecordID?.recordName == "_c" }
        )
        #expect(share.requesters.isEmpty)
        #expect(share.blockedIdentities.map(\.userIdentity.userRecordID?.recordName) == ["_b"])
        let changes = try share.changes()
        #expect(changes.denied == ["_a"] && changes.blocked == ["_b"] && changes.unblocked == ["_c"])
    }

    @Test func `a participant who is blocked is there until the share is saved`() throws {
        var server = serverShare([person("A", user: "_ann")], publicPermission: .readOnly)
        server.requesters = [UserIdentity(userRecordName: "_ann")]
        let share = fetchedShare(server)
        share.blockRequesters(share.requesters)
        #expect(share.participants.count == 2 && share.requesters.isEmpty)
        #expect(try share.changes().blocked == ["_ann"])
    }

    @Test func `a copy is a share of its own`() throws {
        let share = fetchedShare(
            serverShare([person("A", user: "_ann")]),
            fields: [Field(name: "a", value: .int64(1))]
        )
        let copy = try #require(share.copy() as? CKShare)
        copy.participants[1].permission = .readOnly
        copy.publicPermission = .readOnly
        copy["a"] = 2
        #expect(share.participants[1].permission == .readWrite && share.publicPermission == .none)
        #expect(share["a"] as? Int == 1)
        #expect(copy.recordChangeTag == "t1" && copy.url == share.url)
    }
}
