import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// What a share may be, who may change it, and what becomes of it.
@Suite(.timeLimit(.minutes(10)))
struct SharingRuleTests {
    @Test(arguments: EngineKind.allCases)
    func `a share has a URL, its owner, and a root that names it`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let share = try await it.share("list")
        #expect(share.root == "list")
        #expect(share.token.count == 22)
        #expect(share.participants.map(\.role) == [.owner])
        #expect(share.owner?.identity.userRecordName == EngineUnderTest.alice)
        #expect(share.currentParticipantID == share.owner?.id)
        let root = try #require(try await it.record(id("list")))
        let reference = try #require(
            root.body.slices.first { root.body.name(of: $0) == ShareRecord.referenceField }
        )
        #expect(root.body.value(of: reference) == .reference(Reference(recordName: "share", action: .none)))
    }

    @Test(arguments: EngineKind.allCases)
    func `a share comes with its root in one request`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("list")])
        let alone = try await it.modify([saveOfShare("share", ShareChanges(root: "list"))])
        #expect(alone[0].error == .shareInvalid(.rootMissing))
        // The root is refused, so its share is.
        let both = try await it.modify(
            [save("list"), saveOfShare("share", ShareChanges(root: "list"))],
            isAtomic: false
        )
        #expect(both[1].error == .dependsOn(index: 0))
        #expect(try await it.share(named: "share") == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `a record is in one share`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("top"), child("list", of: "top"), child("task", of: "list")])
        try await it.share("list")
        for root in ["list", "top", "task"] {
            await #expect(throws: StoreError.alreadyShared) { try await it.share(root, named: "other") }
        }
        await #expect(throws: StoreError.shareConflict(.zoneHasShares)) {
            try await it.share(nil, named: ShareRecord.zoneWideName)
        }
        // Two shares in one request that would cover one another.
        let outcomes = try await it.modify(
            [
                save("a"), child("b", of: "a"), saveOfShare("sa", ShareChanges(root: "a")),
                saveOfShare("sb", ShareChanges(root: "b")),
            ],
            isAtomic: false
        )
        #expect(outcomes[2...].contains { $0.error == .alreadyShared })
    }

    @Test(arguments: EngineKind.allCases)
    func `a tree that moves takes no share into another`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a"), save("b"), child("c", of: "b")])
        try await it.share("a", named: "sa")
        try await it.share("c", named: "sc")
        let outcomes = try await it.modify([child("b", of: "a")], policy: .changedKeys)
        #expect(outcomes[0].error == .alreadyShared)
    }

    @Test(arguments: EngineKind.allCases)
    func `a zone is shared as a whole or in parts`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("list")])
        try await it.share(nil, named: ShareRecord.zoneWideName)
        await #expect(throws: StoreError.shareConflict(.zoneIsShared)) { try await it.share("list") }
        guard case .zone(let zone) = try await it.zones(.ids([notes]))[0] else {
            Issue.record("no zone")
            return
        }
        #expect(zone.share == ShareRecord.zoneWideName)
        let again = try await it.modify([saveOfShare(ShareRecord.zoneWideName, ShareChanges())])
        guard case .recordExists = again[0].error else {
            Issue.record("\(again)")
            return
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `there are no shares in default zones and in the public database`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        for requester in [it.privately, it.publicly] {
            var share = saveOfShare("share", ShareChanges(root: "list"))
            var root = save("list")
            share.id.zone = .default
            root.id.zone = .default
            let outcomes = try await it.modify([share, root], isAtomic: false, by: requester)
            #expect(outcomes[0].error == .shareInvalid(.place))
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `the URL stays when sharing ends and begins again`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let first = try await it.share("list")
        #expect(try await it.modify([], deletes: [id("share")]) == [.deleted])
        let root = try #require(try await it.record(id("list")))
        #expect(!root.body.slices.contains { root.body.name(of: $0) == ShareRecord.referenceField })
        guard case .failed(.shareMissing) = try await it.metadata(first.token, by: it.bobShared) else {
            Issue.record("a share that ended has metadata")
            return
        }
        #expect(try await it.share("list", named: "again").token == first.token)
    }

    @Test(arguments: EngineKind.allCases)
    func `a share goes with its root`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let share = try await it.share("list")
        try await it.join(share, by: it.bobShared)
        #expect(try await it.modify([], deletes: [id("list")]) == [.deleted])
        #expect(try await it.share(named: "share") == nil)
        #expect(try await it.zones(by: it.bobShared).isEmpty)
    }

    // MARK: - Participants

    @Test(arguments: EngineKind.allCases)
    func `a public permission ends invitations, and who has joined stays with what he may`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let carol = try it.newUser("carol", 0xCA)
        let dave = try it.newUser("dave", 0xDA)
        let share = try await it.share("list") {
            $0.participants = [
                participant(EngineUnderTest.bob, .readOnly), participant(carol.userRecordName!),
            ]
        }
        #expect(share.participants.map(\.acceptance) == [.accepted, .pending, .pending])
        try await it.join(share, by: it.bobShared)
        var open = ShareChanges()
        open.publicPermission = .readWrite
        #expect(try await it.changeShare("share", open).isSaved)
        #expect(try await it.share(named: "share")?.participants.map(\.role) == [.owner, .privateUser])
        let bobs = try await it.modify([sharedSave("list")], policy: .changedKeys, by: it.bobShared)
        #expect(bobs[0].error == .permissionDenied(.write))
        // Whose invitation has ended joins as everybody else does.
        try await it.join(share, by: carol)
        try await it.join(share, by: dave)
        let roles = try await it.share(named: "share")?.participants.map(\.role)
        #expect(roles == [.owner, .privateUser, .publicUser, .publicUser])
        #expect(try await it.modify([sharedSave("list")], policy: .changedKeys, by: carol).areSaved)
        // Nobody is invited to what everybody may join.
        open.participants = [participant(carol.userRecordName!)]
        open.participants[0].id = "new"
        open.participants[0].identity = UserIdentity(lookup: .emailAddress("x@example.org"))
        open.publicPermission = nil
        #expect(
            try await it.changeShare("share", open).error == .shareInvalid(.invitesToPublicShare)
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `the end of the public permission removes those who came by the URL, and nobody else`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let carol = try it.newUser("carol", 0xCA)
        let dave = try it.newUser("dave", 0xDA)
        let erin = try it.newUser("erin", 0xE1)
        let share = try await it.share("list") {
            $0.participants = [
                participant(EngineUnderTest.bob, role: .administrator), participant(carol.userRecordName!),
            ]
        }
        for reader in [it.bobShared, carol] { try await it.join(share, by: reader) }
        var changes = ShareChanges()
        changes.publicPermission = .readOnly
        try await it.changeShare("share", changes)
        for reader in [dave, erin] { try await it.join(share, by: reader) }
        // She was invited, and stays so when she leaves.
        let deletion = ModifyZones(scope: .shared, saves: [], deletes: [aliceNotes])
        #expect(try await it.write(.modifyZones(deletion), by: carol).get() == [.deleted])
        changes.publicPermission = SharePermission.none
        var invited = participant(dave.userRecordName!)
        invited.id = try #require(try await it.share(named: "share")?.participants[3].id)
        changes.participants = [invited]
        #expect(try await it.changeShare("share", changes, by: it.bobShared).isSaved)
        let left = try #require(try await it.share(named: "share"))
        #expect(left.participants.map(\.role) == [.owner, .administrator, .privateUser, .privateUser])
        // Dave had come by the URL: Dave is invited, and reads nothing before accepting.
        #expect(left.participants.map(\.acceptance) == [.accepted, .accepted, .pending, .pending])
        #expect(try await it.record(sharedID("list"), by: it.bobShared) != nil)
        for reader in [dave, erin] {
            #expect(try await it.record(sharedID("list"), by: reader) == nil)
        }
        for reader in [carol, dave] { try await it.join(share, by: reader) }
        #expect(try await it.accept(share.token, by: erin) == .failed(.permissionDenied(.read)))
    }

    @Test(arguments: EngineKind.allCases, [ModifyRecords.Policy.changedKeys, .allKeys])
    func `a share that somebody else changed is a conflict, whatever the policy`(
        kind: EngineKind,
        policy: ModifyRecords.Policy
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        try await it.share("list") { $0.participants = [participant(EngineUnderTest.bob)] }
        var again = ShareChanges()
        again.participants = [participant(EngineUnderTest.bob)]
        let stale = try await it.saveOfShareNow("share", again)
        var removal = ShareChanges()
        removal.removed = ["p" + EngineUnderTest.bob]
        #expect(try await it.changeShare("share", removal).isSaved)
        let outcome = try await it.modify([stale], policy: policy)[0]
        guard case .changeTagStale = outcome.error else {
            Issue.record("\(outcome)")
            return
        }
        let unknown = try await it.modify([saveOfShare("share", again)], policy: policy)[0]
        guard case .recordExists = unknown.error else {
            Issue.record("\(unknown)")
            return
        }
        #expect(try await it.share(named: "share")?.participants.map(\.role) == [.owner])
    }

    @Test(arguments: EngineKind.allCases)
    func `a root that is saved as its share is deleted has no share, and the tag that was answered`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let share = try await it.share("list")
        try await it.join(share, by: it.bobShared)
        let outcomes = try await it.modify(
            [save("list", ["n": .int64(7)])],
            deletes: [id("share")],
            policy: .changedKeys
        )
        #expect(outcomes[1] == .deleted)
        let root = try #require(try await it.record(id("list")))
        #expect(root["n"] == .int64(7) && root[ShareRecord.referenceField] == nil)
        #expect(root.changeTag == outcomes[0].tag)
        #expect(try await it.zones(by: it.bobShared).isEmpty)
    }

    @Test(arguments: EngineKind.allCases)
    func `a share refuses what its participants can't be`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        try await it.share("list") { _ in }
        func refusal(_ change: (inout ShareChanges) -> Void) async throws -> StoreError? {
            var changes = ShareChanges()
            change(&changes)
            return try await it.changeShare("share", changes).error
        }
        let bob = EngineUnderTest.bob
        #expect(
            try await refusal { $0.participants = [participant(bob, .unknown)] }
                == .shareInvalid(.permissionUnknown)
        )
        #expect(
            try await refusal { $0.participants = [participant(bob, role: .owner)] }
                == .shareInvalid(.roleNotAllowed)
        )
        #expect(try await refusal { $0.removed = ["owner"] } == .shareInvalid(.ownerStays))
        #expect(
            try await refusal { $0.participants = [participant(EngineUnderTest.alice, .readOnly)] }
                == .shareInvalid(.ownerStays)
        )
        #expect(try await refusal { $0.participants = [participant("_nobody")] } == .recordMissing)
        #expect(try await refusal { $0.publicPermission = .unknown } == .shareInvalid(.permissionUnknown))
        let many = (0..<100).map { number in
            ShareParticipant(
                id: "\(number)",
                identity: UserIdentity(lookup: .emailAddress("\(number)@example.org"))
            )
        }
        #expect(try await refusal { $0.participants = many } == .tooManyParticipants)
        #expect(try await refusal { $0.participants = Array(many.dropLast()) } == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `a participant changes nothing about who takes part, an administrator does`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let carol = try it.newUser("carol", 0xCA)
        let share = try await it.share("list") { $0.participants = [participant(EngineUnderTest.bob)] }
        try await it.join(share, by: it.bobShared)
        func put(_ changes: ShareChanges, by requester: Requester) async throws -> StoreError? {
            try await it.changeShare("share", changes, by: requester).error
        }
        var raise = ShareChanges()
        raise.participants = [participant(EngineUnderTest.bob, role: .administrator)]
        #expect(try await put(raise, by: it.bobShared) == .permissionDenied(.write))
        #expect(try await put(ShareChanges(), by: it.bobShared) == .permissionDenied(.write))
        try await it.changeShare("share", raise)
        var invite = ShareChanges()
        invite.participants = [participant(carol.userRecordName!, .readOnly)]
        #expect(try await put(invite, by: it.bobShared) == nil)
        try await it.join(share, by: carol)
        // Only the owner makes administrators.
        raise.participants = [participant(carol.userRecordName!, role: .administrator)]
        #expect(try await put(raise, by: it.bobShared) == .permissionDenied(.write))
    }

    // MARK: - Joining

    @Test(arguments: EngineKind.allCases)
    func `a root that the end of its share changes stands in the index of that date`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let text = """
            DEFINE SCHEMA RECORD TYPE Note ("___recordID" REFERENCE QUERYABLE,
                "___modTime" TIMESTAMP QUERYABLE SORTABLE);
            """
        try it.store.schemas.apply(
            .replaceDevelopment(try SchemaParser.parse(text)),
            inContainer: EngineUnderTest.container
        )
        func namesByDate() async throws -> [String] {
            let query = Query(recordType: "Note", sort: [SortKey(field: "___modTime")])
            let read = QueryRead(query: query, zone: notes, limit: 10)
            return try await it.query(read).records.map(\.id.recordName)
        }
        _ = try await it.modify([save("list")])
        try await it.share("list")
        it.clock.advance(milliseconds: 10)
        _ = try await it.modify([save("other")])
        #expect(try await namesByDate() == ["list", "other"])
        it.clock.advance(milliseconds: 10)
        _ = try await it.modify([], deletes: [id("share")])
        #expect(try await namesByDate() == ["other", "list"])
        _ = try await it.modify([], deletes: [id("list")])
        #expect(try await namesByDate() == ["other"])
    }
}
