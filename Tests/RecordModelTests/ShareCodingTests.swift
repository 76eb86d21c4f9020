import RecordModel
import Testing

struct ShareCodingTests {
    private static var share: Share {
        var participant = ShareParticipant(
            id: "P1",
            identity: UserIdentity(userRecordName: "_a", lookup: .emailAddress("ann@example.org")),
            role: .administrator,
            permission: .readWrite,
            acceptance: .accepted
        )
        participant.isApprovedRequester = true
        participant.addedMilliseconds = 1_800_000_000_000
        participant.oneTimeToken = "once"
        var share = Share(
            root: "list",
            token: "abc",
            publicPermission: .readOnly,
            participants: [
                participant, ShareParticipant(id: "P2", identity: UserIdentity(lookup: .phoneNumber("+49"))),
            ]
        )
        share.allowsAccessRequests = true
        share.requesters = [UserIdentity(lookup: .userRecordName("_b"))]
        share.blocked = [UserIdentity(userRecordName: "_c")]
        share.currentParticipantID = "P2"
        return share
    }

    @Test
    func `a share is what it was after it was bytes`() throws {
        #expect(try Share(decoding: Self.share.bytes) == Self.share)
        let zone = Share(root: nil)
        #expect(try Share(decoding: zone.bytes) == zone)
    }

    @Test
    func `bytes cut anywhere are no share, or one with less in it`() {
        let bytes = Self.share.bytes
        for count in 0..<bytes.count {
            let share = try? Share(decoding: Array(bytes.prefix(count)))
            #expect(share != Self.share)
        }
    }

    @Test
    func `a lookup of nothing is malformed`() {
        #expect(throws: BodyError.malformed) { try IdentityLookup(decoding: []) }
    }

    @Test
    func `fields of the system are in records and not in saves`() throws {
        let body = RecordBody([Field(name: ShareRecord.contentsField, value: .bytes([1]))])
        _ = try RecordBody(checking: body.bytes, allowsClear: false)
        #expect(throws: BodyError.fieldNameInvalid(ShareRecord.contentsField)) {
            try RecordBody(checking: body.bytes, allowsClear: true)
        }
        let other = RecordBody([Field(name: "___other", value: .bytes([1]))])
        #expect(throws: BodyError.fieldNameInvalid("___other")) {
            try RecordBody(checking: other.bytes, allowsClear: false)
        }
    }
}
