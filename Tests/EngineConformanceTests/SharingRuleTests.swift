import RecordModel
import RecordStore
import TestSupport
import Testing

/// What a share may be, who may change it, and what becomes of it.
@Suite(.timeLimit(.minutes(5)))
struct SharingRuleTests {
    private static func failure(_ outcome: WriteOutcome) -> StoreError? {
        guard case .failed(let error) = outcome else { return nil }
        return error
    }

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
        #expect(Self.failure(alone[0]) == .shareInvalid(.rootMissing))
        // The root is refused, so its share is.
        let both = try await it.modify(
            [save("list"), saveOfShare("share", ShareChanges(root: "list"))],
            isAtomic: false
        )
        #expect(Self.failure(both[1]) == .dependsOn(index: 0))
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
        #expect(outcomes[2...].contains { Self.failure($0) == .alreadyShared })
    }

    @Test(arguments: EngineKind.allCases)
    func `a tree that moves takes no share into another`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a"), save("b"), child("c", of: "b")])
        try await it.share("a", named: "sa")
        try await it.share("c", named: "sc")
        let outcomes = try await it.modify([child("b", of: "a")], policy: .changedKeys)
        #expect(Self.failure(outcomes[0]) == .alreadyShared)
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
        guard case .recordExists = Self.failure(again[0]) else {
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
            #expect(Self.failure(outcomes[0]) == .shareInvalid(.place))
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
    func `invited and public participants do not mix`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let share = try await it.share("list") { $0.participants = [participant(EngineUnderTest.bob)] }
        #expect(share.participants.map(\.acceptance) == [.accepted, .pending])
        // Another permission ends invitations.
        var changes = ShareChanges()
        changes.publicPermission = .readOnly
        _ = try await it.modify([saveOfShare("share", changes)], policy: .changedKeys)
        #expect(try await it.share(named: "share")?.participants.map(\.role) == [.owner])
        changes = ShareChanges()
        changes.participants = [participant(EngineUnderTest.bob)]
        let mixed = try await it.modify([saveOfShare("share", changes)], policy: .changedKeys)
        #expect(Self.failure(mixed[0]) == .shareInvalid(.mixesPublicAndPrivate))
        // Who came by the URL goes when it is for the invited again.
        try await it.join(share, by: it.bobShared)
        #expect(try await it.share(named: "share")?.participants.map(\.role) == [.owner, .publicUser])
        changes = ShareChanges()
        changes.publicPermission = SharePermission.none
        _ = try await it.modify([saveOfShare("share", changes)], policy: .changedKeys)
        #expect(try await it.share(named: "share")?.participants.map(\.role) == [.owner])
        #expect(try await it.record(sharedID("list"), by: it.bobShared) == nil)
        changes.participants = [participant(EngineUnderTest.bob)]
        _ = try await it.modify([saveOfShare("share", changes)], policy: .changedKeys)
        try await it.join(share, by: it.bobShared)
        changes = ShareChanges()
        changes.publicPermission = .readWrite
        let open = try await it.modify([saveOfShare("share", changes)], policy: .changedKeys)
        #expect(Self.failure(open[0]) == .shareInvalid(.mixesPublicAndPrivate))
    }

    @Test(arguments: EngineKind.allCases)
    func `a share refuses what its participants can't be`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        try await it.share("list") { _ in }
        func refusal(_ change: (inout ShareChanges) -> Void) async throws -> StoreError? {
            var changes = ShareChanges()
            change(&changes)
            return Self.failure(
                try await it.modify([saveOfShare("share", changes)], policy: .changedKeys)[0]
            )
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
            var save = saveOfShare("share", changes)
            save.id = sharedID("share")
            return Self.failure(try await it.modify([save], policy: .changedKeys, by: requester)[0])
        }
        var raise = ShareChanges()
        raise.participants = [participant(EngineUnderTest.bob, role: .administrator)]
        #expect(try await put(raise, by: it.bobShared) == .permissionDenied(.write))
        #expect(try await put(ShareChanges(), by: it.bobShared) == .permissionDenied(.write))
        _ = try await it.modify([saveOfShare("share", raise)], policy: .changedKeys)
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
    func `who was not invited does not get in, and learns nothing`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let share = try await it.share("list") { _ in }
        #expect(try await it.accept(share.token, by: it.bobShared) == .failed(.permissionDenied(.read)))
        #expect(try await it.accept("guessed", by: it.bobShared) == .failed(.shareMissing))
        guard case .failed(.permissionDenied(.read)) = try await it.metadata(share.token, by: it.bobShared)
        else {
            Issue.record("metadata for somebody who was not invited")
            return
        }
        var changes = ShareChanges()
        changes.participants = [
            ShareParticipant(id: "mail", identity: UserIdentity(lookup: .emailAddress("x@example.org")))
        ]
        _ = try await it.modify([saveOfShare("share", changes)], policy: .changedKeys)
        #expect(try await it.accept(share.token, by: it.bobShared) == .failed(.participantUnverified))
    }

    @Test(arguments: EngineKind.allCases)
    func `accepting twice, and by the owner, changes nothing`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let share = try await it.share("list")
        try await it.join(share, by: it.bobShared)
        let once = try await it.record(id("share"))
        try await it.join(share, by: it.bobShared)
        let aliceShared = Requester(
            database: it.signIn.sharedDatabase!,
            scope: .shared,
            environment: it.signIn.environment,
            userRecordName: EngineUnderTest.alice
        )
        try await it.join(share, by: aliceShared)
        #expect(try await it.record(id("share")) == once)
        #expect(try await it.sharedZones(by: aliceShared).items.isEmpty)
    }

    @Test(arguments: EngineKind.allCases)
    func `a URL for one person lets one person in`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let carol = try it.newUser("carol", 0xCA)
        let share = try await it.share("list") {
            $0.participants = [ShareParticipant(id: "once", identity: UserIdentity())]
        }
        let token = share.participants[1].oneTimeToken
        #expect(token.count == 22)
        #expect(token != share.token)
        guard case .shareAccepted = try await it.accept(token, by: carol) else {
            Issue.record("the URL did not let Carol in")
            return
        }
        #expect(try await it.accept(token, by: it.bobShared) == .failed(.shareMissing))
        #expect(
            try await it.share(named: "share")?.participants[1].identity.userRecordName
                == carol.userRecordName
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `who asks waits among the requesters, and is let in, denied or blocked`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let share = try await it.share("list") { _ in }
        func ask() async throws -> WriteOutcome {
            let request = RequestShareAccess(tokens: [share.token])
            return try await it.write(.requestShareAccess(request), by: it.bobShared).get()[0]
        }
        #expect(try await ask() == .failed(.permissionDenied(.read)))
        func change(_ body: (inout ShareChanges) -> Void) async throws -> Share? {
            var changes = ShareChanges()
            body(&changes)
            _ = try await it.modify([saveOfShare("share", changes)], policy: .changedKeys)
            return try await it.share(named: "share")
        }
        let bob = EngineUnderTest.bob
        _ = try await change { $0.allowsAccessRequests = true }
        #expect(try await ask() == .done)
        #expect(try await ask() == .done)
        #expect(try await it.share(named: "share")?.requesters.map(\.userRecordName) == [bob])
        #expect(try await change { $0.denied = [bob] }?.requesters == [])
        #expect(try await ask() == .done)
        let blocked = try await change { $0.blocked = [bob] }
        #expect(blocked?.requesters == [])
        #expect(blocked?.blocked.map(\.userRecordName) == [bob])
        #expect(try await ask() == .failed(.permissionDenied(.read)))
        #expect(try await change { $0.unblocked = [bob] }?.blocked == [])
        #expect(try await ask() == .done)
        let approved = try await change { $0.participants = [participant(bob)] }
        #expect(approved?.requesters == [])
        #expect(approved?.participants[1].isApprovedRequester == true)
        try await it.join(share, by: it.bobShared)
    }
}
