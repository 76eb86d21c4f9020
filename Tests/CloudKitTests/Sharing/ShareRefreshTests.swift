import Foundation
import RecordModel
import Testing
import WireProtocol

@testable import CloudKit

/// What becomes of a share whose save was answered.
struct ShareRefreshTests {
    private func answer(_ share: CKShare, _ save: RecordSave, with server: Share) {
        let system = SystemFields(
            createdMilliseconds: 1,
            modifiedMilliseconds: 2,
            createdBy: "",
            modifiedBy: ""
        )
        share.saved(RecordSaved(changeTag: "t2", system: system), sent: save, currentUser: "_me")
        _ = share.change { $0.refresh(server) }
    }

    @Test func `the server's state is in the existing objects`() throws {
        let list = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "list", zoneID: sharedZone))
        let share = CKShare(rootRecord: list)
        let ann = CKShare.Participant(person("A", email: "ann@example.org", acceptance: .pending))
        share.addParticipant(ann)
        let owner = share.owner
        let save = try share.save(policy: .ifServerRecordUnchanged)
        var server = serverShare([person("A", user: "_ann", email: "ann@example.org", acceptance: .pending)])
        server.participants[1].addedMilliseconds = 5_000
        self.answer(share, save, with: server)
        share.isAt("tidemark://example.org:1")
        #expect(share.url == URL(string: "tidemark://example.org:1/share/token-1"))
        #expect(share.participants.count == 2 && share.owner === owner && share.participants[1] === ann)
        #expect(share.currentUserParticipant === owner && owner.participantID == "O")
        #expect(ann.userIdentity.userRecordID?.recordName == "_ann")
        #expect(ann.dateAddedToShare == Date(timeIntervalSince1970: 5))
        #expect(try share.changes() == ShareChanges(root: "list"))
    }

    @Test func `a change that was made after the save was sent stays`() throws {
        let share = fetchedShare(
            serverShare([person("A", user: "_a"), person("B", user: "_b"), person("C", user: "_c")])
        )
        share.participants[1].permission = .readOnly
        let save = try share.save(policy: .ifServerRecordUnchanged)
        share.participants[1].role = .administrator
        share.removeParticipant(share.participants[2])
        share.addParticipant(CKShare.Participant(person("D", email: "d@example.org", acceptance: .pending)))
        share.allowsAccessRequests = true
        let server = serverShare([
            person("A", user: "_a", permission: .readOnly), person("B", user: "_b"),
            person("C", user: "_c", acceptance: .removed), person("E", user: "_e"),
        ])
        self.answer(share, save, with: server)
        #expect(share.participants.map(\.participantID) == ["O", "A", "C", "E", "D"])
        #expect(share.participants[2].acceptanceStatus == .removed)
        var expected = ShareChanges(root: "list")
        expected.allowsAccessRequests = true
        expected.participants = [
            person("A", .administrator, user: "_a", permission: .readOnly),
            person("D", email: "d@example.org", acceptance: .pending),
        ]
        expected.removed = ["B"]
        #expect(try share.changes() == expected)
    }

    @Test func `a participant who was denied, blocked or unblocked is not so again`() throws {
        var server = serverShare()
        server.requesters = ["_a", "_b", "_d"].map { UserIdentity(userRecordName: $0) }
        let share = fetchedShare(server)
        share.denyRequesters([share.requesters[0]])
        let save = try share.save(policy: .ifServerRecordUnchanged)
        share.blockRequesters([share.requesters[0]])
        server.requesters.removeFirst()
        self.answer(share, save, with: server)
        #expect(share.requesters.map(\.userIdentity.userRecordID?.recordName) == ["_d"])
        #expect(share.blockedIdentities.map(\.userIdentity.userRecordID?.recordName) == ["_b"])
        #expect(try share.changes().denied.isEmpty && share.changes().blocked == ["_b"])
    }

    @Test func `the public permission that was saved is the server's`() throws {
        let share = fetchedShare()
        share.publicPermission = .readWrite
        let save = try share.save(policy: .ifServerRecordUnchanged)
        self.answer(share, save, with: serverShare(publicPermission: .readWrite))
        #expect(share.publicPermission == .readWrite)
        #expect(try share.changes() == ShareChanges(root: "list"))
        let late = fetchedShare()
        let empty = try late.save(policy: .ifServerRecordUnchanged)
        late.publicPermission = .readOnly
        self.answer(late, empty, with: serverShare())
        #expect(try late.changes().publicPermission == .readOnly)
    }
}
