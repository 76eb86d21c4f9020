import NIOCore
import RecordModel
import SwiftProtobuf
import Testing
import WireProtocol

/// Messages of shares: our bytes as SwiftProtobuf has them, and its bytes as we read them.
struct ShareCodecTests {
    private static let names = ["a", "é", String(repeating: "n", count: 128)]

    private static func identities(_ name: String) -> [UserIdentity] {
        [
            UserIdentity(), UserIdentity(userRecordName: name),
            UserIdentity(lookup: .emailAddress(name)),
            UserIdentity(userRecordName: name, lookup: .phoneNumber(name)),
            UserIdentity(lookup: .userRecordName(name)),
        ]
    }

    private static func participants(_ name: String) -> [ShareParticipant] {
        let roles: [ShareRole] = [.unknown, .owner, .administrator, .privateUser, .publicUser]
        let permissions: [SharePermission] = [.unknown, .none, .readOnly, .readWrite, .none]
        let acceptances: [ShareAcceptance] = [.unknown, .pending, .accepted, .removed, .pending]
        return self.identities(name).enumerated().map { number, identity in
            var participant = ShareParticipant(
                id: "P \(number)",
                identity: identity,
                role: roles[number],
                permission: permissions[number],
                acceptance: acceptances[number]
            )
            participant.isApprovedRequester = number.isMultiple(of: 2)
            participant.addedMilliseconds = [0, -1, .max, 1, 127][number]
            participant.oneTimeToken = number == 3 ? name : ""
            return participant
        }
    }

    private static func share(_ name: String, root: String?) -> Share {
        var share = Share(
            root: root,
            token: name,
            publicPermission: .readOnly,
            participants: self.participants(name)
        )
        share.allowsAccessRequests = true
        share.requesters = self.identities(name)
        share.blocked = self.identities(name)
        share.currentParticipantID = name
        return share
    }

    private static func changes(_ name: String) -> [ShareChanges] {
        var all = ShareChanges(root: name)
        all.publicPermission = .unknown
        all.allowsAccessRequests = false
        all.participants = self.participants(name)
        all.removed = ["P 1", "P 2"]
        all.denied = [name]
        all.blocked = [name, "x"]
        all.unblocked = [name]
        var some = ShareChanges(root: "")
        some.publicPermission = .readWrite
        some.allowsAccessRequests = true
        return [ShareChanges(), some, all]
    }

    private static func metadata(_ name: String) -> [ShareMetadata] {
        let id = RecordID(zone: ZoneID(zoneName: name, ownerName: name), recordName: name)
        let system = SystemFields(
            createdMilliseconds: 1,
            modifiedMilliseconds: 2,
            createdBy: "",
            modifiedBy: ""
        )
        let contents = Field(
            name: ShareRecord.contentsField,
            value: .bytes(self.share(name, root: name).bytes)
        )
        let record = Record(
            id: id,
            recordType: ShareRecord.type,
            changeTag: "1",
            system: system,
            body: RecordBody([contents])
        )
        let whole = ShareMetadata(
            container: name,
            share: record,
            rootRecordName: name,
            rootRecord: record,
            role: .publicUser,
            acceptance: .removed,
            permission: .readWrite,
            owner: UserIdentity(userRecordName: name)
        )
        let least = ShareMetadata(
            container: "",
            share: record,
            rootRecordName: nil,
            role: .unknown,
            acceptance: .unknown,
            permission: .unknown,
            owner: UserIdentity()
        )
        return [whole, least]
    }

    @Test
    func `the contents of a share are what SwiftProtobuf makes of them`() throws {
        for share in Self.names.flatMap({ [Self.share($0, root: $0), Self.share($0, root: nil)] }) {
            let message = try PBShare(serializedBytes: share.bytes)
            #expect(message.hasRoot == (share.root != nil) && message.token == share.token)
            #expect(message.participants.map(\.id) == share.participants.map(\.id))
            #expect(message.currentParticipantID == share.currentParticipantID)
            #expect(try message.serializedBytes() as [UInt8] == share.bytes)
            #expect(try Share(decoding: share.bytes) == share)
        }
    }

    @Test
    func `requests of shares are what SwiftProtobuf makes of them`() throws {
        for name in Self.names {
            let id = RecordID(zone: ZoneID(zoneName: name), recordName: name)
            let token = String(name.prefix(2))
            var saves = [RecordSave(id: id, recordType: "A", changes: .empty)]
            for changes in Self.changes(name) {
                var save = RecordSave(id: id, recordType: ShareRecord.type, changes: .empty)
                save.share = .changes(changes)
                saves.append(save)
            }
            let lookups: [IdentityLookup] = [.emailAddress(name), .phoneNumber(name), .userRecordName("")]
            let operations: [RecordModel.Operation] = [
                .modifyRecords(ModifyRecords(scope: .private, saves: saves)),
                .acceptShares(AcceptShares(tokens: [token, "t"])),
                .fetchShareMetadata(FetchShareMetadata(tokens: [token])),
                .fetchShareMetadata(
                    FetchShareMetadata(tokens: [token], wantsRootRecords: true, desiredKeys: [name])
                ),
                .fetchShareMetadata(FetchShareMetadata(tokens: [], desiredKeys: [])),
                .fetchShareParticipants(FetchShareParticipants(lookups: lookups)),
                .requestShareAccess(RequestShareAccess(tokens: ["t", token])),
            ]
            for operation in operations {
                let requestID = operation.isMutating ? RequestID(high: 1, low: .max) : nil
                let request = Request(requestID: requestID, deadlineMilliseconds: 128, operation: operation)
                let ours = Array(request.encoded().readableBytesView)
                let message = try PBRequest(serializedBytes: ours)
                #expect(message.operation != nil && Array(message.requestID) == requestID?.bytes ?? [])
                #expect(try message.serializedBytes() as [UInt8] == ours)
                #expect(try Request(decoding: ByteBuffer(bytes: ours)) == request)
            }
        }
    }

    @Test
    func `items of shares are what SwiftProtobuf makes of them`() throws {
        var outcomes: [ItemOutcome] = [.done]
        for name in Self.names {
            outcomes += Self.metadata(name).map { .shareMetadata($0) }
            outcomes += Self.participants(name).map { .participant($0) }
            outcomes.append(
                .zone(Zone(id: ZoneID(zoneName: name), capabilities: [.sharing], share: "cloudkit.zoneshare"))
            )
        }
        let items = Items(
            items: outcomes.enumerated().map { Item(index: UInt32($0.offset), outcome: $0.element) }
        )
        let ours = Array(items.encoded().readableBytesView)
        #expect(try PBItems(serializedBytes: ours).serializedBytes() as [UInt8] == ours)
        #expect(try Items(decoding: ByteBuffer(bytes: ours)) == items)
    }

    @Test(arguments: [400, 401])
    func `items of requests for shares are counted before they are decoded`(count: Int) throws {
        let tokens = Array(repeating: "t", count: count)
        let operations: [RecordModel.Operation] = [
            .acceptShares(AcceptShares(tokens: tokens)),
            .fetchShareMetadata(FetchShareMetadata(tokens: tokens, desiredKeys: tokens)),
            .fetchShareParticipants(FetchShareParticipants(lookups: tokens.map { .emailAddress($0) })),
            .requestShareAccess(RequestShareAccess(tokens: tokens)),
        ]
        for operation in operations {
            #expect(operation.itemCount == count)
            let request = Request(requestID: nil, deadlineMilliseconds: 0, operation: operation)
            #expect(RequestShape(request.encoded()).itemCount == count)
            if count <= Bounds.defaults.requestItemsMax {
                #expect(try Request(decoding: request.encoded()) == request)
            } else {
                #expect(throws: WireError(.refused(.limitExceeded), field: "items")) {
                    try Request(decoding: request.encoded())
                }
            }
        }
    }
}
