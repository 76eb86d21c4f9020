import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Users who join a share, ask for access, and are blocked.
@Suite(.timeLimit(.minutes(10)))
struct SharingJoinTests {
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
        try await it.changeShare("share", changes)
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
        #expect(try await ask() == .failed(.shareMissing))
        func change(_ body: (inout ShareChanges) -> Void) async throws -> Share? {
            var changes = ShareChanges()
            body(&changes)
            try await it.changeShare("share", changes)
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
        #expect(try await ask() == .failed(.shareMissing))
        #expect(try await change { $0.unblocked = [bob] }?.blocked == [])
        #expect(try await ask() == .done)
        let approved = try await change { $0.participants = [participant(bob)] }
        #expect(approved?.requesters == [])
        #expect(approved?.participants[1].isApprovedRequester == true)
        // An invited user accepts, and does not ask.
        #expect(try await ask() == .failed(.alreadyInvited))
        try await it.join(share, by: it.bobShared)
        #expect(try await ask() == .done)
    }

    @Test(arguments: EngineKind.allCases)
    func `who deletes the zone stays invited, and who came by the URL does not`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let carol = try it.newUser("carol", 0xCA)
        let list = try await it.share("list") {
            $0.participants = [participant(EngineUnderTest.bob, .readOnly, role: .administrator)]
        }
        let open = try await it.share("open", named: "so")
        for (share, reader) in [(list, it.bobShared), (open, it.bobShared), (open, carol)] {
            try await it.join(share, by: reader)
        }
        let token = try await it.all(of: aliceNotes, by: it.bobShared).token
        let deletion = ModifyZones(scope: .shared, saves: [], deletes: [aliceNotes])
        for reader in [it.bobShared, carol] {
            #expect(try await it.write(.modifyZones(deletion), by: reader).get() == [.deleted])
            #expect(try await it.zones(by: reader).isEmpty)
        }
        let left = try #require(try await it.share(named: "share"))
        #expect(left.participants.map(\.acceptance) == [.accepted, .pending])
        #expect(!left.isManaged(by: EngineUnderTest.bob))
        #expect(try await it.share(named: "so")?.participants.map(\.role) == [.owner])
        try await it.join(list, by: it.bobShared)
        let back = try #require(try await it.share(named: "share")?.participants.last)
        #expect(back.acceptance == .accepted && back.role == .administrator)
        #expect(try await it.record(sharedID("open"), by: it.bobShared) == nil)
        await #expect(throws: StoreError.changeTokenExpired) {
            try await it.all(after: token, of: aliceNotes, by: it.bobShared)
        }
    }

    @Test(arguments: EngineKind.allCases, [SharePermission.readOnly, .readWrite])
    func `who deletes the root leaves the share, with all that goes with it`(
        kind: EngineKind,
        permission: SharePermission
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let share = try await it.share("list") {
            $0.participants = [participant(EngineUnderTest.bob, permission)]
        }
        try await it.join(share, by: it.bobShared)
        let deletes = [sharedID("list"), sharedID("share")]
        #expect(try await it.modify([], deletes: deletes, by: it.bobShared) == [.deleted, .deleted])
        #expect(try await it.record(id("list")) != nil)
        #expect(try await it.share(named: "share")?.participants.map(\.role) == [.owner])
        #expect(try await it.zones(by: it.bobShared).isEmpty)
        #expect(try await it.accept(share.token, by: it.bobShared) == .failed(.permissionDenied(.read)))
    }

    @Test(arguments: EngineKind.allCases, [SharePermission.none, .readWrite])
    func `who is blocked has no access any more, and does not get in again`(
        kind: EngineKind,
        publicPermission: SharePermission
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let bob = EngineUnderTest.bob
        let share = try await it.share("list") {
            $0.publicPermission = publicPermission
            if publicPermission == .none { $0.participants = [participant(bob)] }
        }
        try await it.join(share, by: it.bobShared)
        let token = try await it.all(of: aliceNotes, by: it.bobShared).token
        var changes = ShareChanges()
        changes.blocked = [bob]
        #expect(try await it.changeShare("share", changes).isSaved)
        let after = try #require(try await it.share(named: "share"))
        #expect(after.participants.map(\.role) == [.owner])
        #expect(after.blocked.map(\.userRecordName) == [bob])
        #expect(try await it.record(sharedID("list"), by: it.bobShared) == nil)
        let saved = try await it.modify([sharedSave("list")], policy: .changedKeys, by: it.bobShared)
        #expect(saved == [.failed(.zoneMissing)])
        await #expect(throws: StoreError.zoneMissing) {
            try await it.all(after: token, of: aliceNotes, by: it.bobShared)
        }
        #expect(try await it.accept(share.token, by: it.bobShared) == .failed(.permissionDenied(.read)))
    }

    @Test(arguments: EngineKind.allCases)
    func `nobody blocks the owner, only the owner an administrator, and no more than a share remembers`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let carol = try it.newUser("carol", 0xCA)
        let admins = [EngineUnderTest.bob, carol.userRecordName!]
        let share = try await it.share("list") {
            $0.participants = admins.map { participant($0, role: .administrator) }
        }
        for requester in [it.bobShared, carol] { try await it.join(share, by: requester) }
        func block(_ users: [String], by requester: Requester? = nil) async throws -> StoreError? {
            var changes = ShareChanges()
            changes.blocked = users
            return try await it.changeShare("share", changes, by: requester).error
        }
        #expect(try await block([EngineUnderTest.alice], by: carol) == .shareInvalid(.ownerStays))
        #expect(try await block([EngineUnderTest.bob], by: carol) == .permissionDenied(.write))
        #expect(try await block([EngineUnderTest.bob]) == nil)
        #expect(try await it.share(named: "share")?.participants.count == 2)
        let many = (0..<Bounds.shareRequestersMax).map { "_\($0)" }
        #expect(try await block(many) == .tooManyParticipants)
        #expect(try await block(Array(many.dropLast())) == nil)
    }
}
