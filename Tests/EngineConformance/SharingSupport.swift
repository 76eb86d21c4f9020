import RecordModel
import RecordStore
import StorageContract
import Testing

/// What tests of sharing do with an engine: Alice owns, Bob takes part.
extension EngineUnderTest {
    var bobShared: Requester {
        Requester(
            database: self.bobSignIn.sharedDatabase!,
            scope: .shared,
            environment: self.bobSignIn.environment,
            userRecordName: self.bobSignIn.userRecordName
        )
    }

    /// Somebody else in the same container.
    func newUser(_ name: String, _ number: Int) throws -> Requester {
        let digits = String(number, radix: 16)
        let recordName = "_" + String(repeating: "0", count: 32 - digits.count) + digits
        let directory = self.store.directory
        try directory.addUser(
            named: name,
            userRecordName: recordName,
            tokenHash: Self.token(of: name),
            toContainer: Self.container
        )
        let signIn = try self.signIn(named: name)
        return Requester(
            database: signIn.sharedDatabase!,
            scope: .shared,
            environment: signIn.environment,
            userRecordName: recordName
        )
    }

    func signIn(named name: String) throws -> SignIn {
        try self.store.directory.signIn(
            container: Self.container,
            environment: .development,
            tokenHash: Self.token(of: name)
        )
    }

    /// Alice shares a record, which is saved with its share; returns the share as she sees it.
    @discardableResult
    func share(
        _ root: String?,
        named name: String = "share",
        _ change: (inout ShareChanges) -> Void = { $0.publicPermission = .readWrite }
    ) async throws -> Share {
        var changes = ShareChanges(root: root)
        change(&changes)
        var saves = [saveOfShare(name, changes)]
        if let root { saves.append(save(root)) }
        let outcomes = try await self.modify(saves, policy: .changedKeys)
        for outcome in outcomes {
            guard case .failed(let error) = outcome else { continue }
            throw error
        }
        return try #require(try await self.share(named: name))
    }

    /// Changes a share as it is now.
    @discardableResult
    func changeShare(
        _ name: String,
        _ changes: ShareChanges,
        by requester: Requester? = nil
    ) async throws -> WriteOutcome {
        try await self.modify([self.saveOfShareNow(name, changes, by: requester)], by: requester)[0]
    }

    /// The save that changes a share as it is now.
    func saveOfShareNow(
        _ name: String,
        _ changes: ShareChanges,
        by requester: Requester? = nil
    ) async throws -> RecordSave {
        var save = saveOfShare(name, changes)
        if requester?.scope == .shared { save.id = sharedID(name) }
        save.changeTag = try await self.record(save.id, by: requester)?.changeTag
        return save
    }

    /// `nil` if there is no such share.
    func share(named name: String, by requester: Requester? = nil) async throws -> Share? {
        let zone = requester?.scope == .shared ? aliceNotes : notes
        return try await self.record(RecordID(zone: zone, recordName: name), by: requester)?.body.share
    }

    func accept(
        _ token: String,
        by requester: Requester,
        id: RequestID? = nil
    ) async throws -> WriteOutcome {
        try await self.write(.acceptShares(AcceptShares(tokens: [token])), by: requester, id: id).get()[0]
    }

    /// Accepts, and fails the test if that fails.
    func join(_ share: Share, by requester: Requester) async throws {
        guard case .shareAccepted = try await self.accept(share.token, by: requester) else {
            Issue.record("\(requester.userRecordName ?? "") has not joined")
            return
        }
    }

    func metadata(
        _ token: String,
        by requester: Requester,
        withRoot: Bool = false
    ) async throws -> ReadOutcome {
        let fetch = FetchShareMetadata(tokens: [token], wantsRootRecords: withRoot)
        let result = await withCheckedContinuation { continuation in
            self.store.fetchShareMetadata(fetch, container: Self.container, for: requester) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()[0]
    }

    /// Names of zones that changed, or went, in somebody's shared database.
    func sharedZones(
        after token: [UInt8]? = nil,
        by requester: Requester
    ) async throws -> (items: [String], token: [UInt8]) {
        let answer = try await self.databaseChanges(DatabaseFeedRead(token: token), by: requester)
        return (answer.items.map(\.text), answer.token)
    }
}

/// The zone of most tests, as others name it.
let aliceNotes = ZoneID(zoneName: "notes", ownerName: EngineUnderTest.alice)

func sharedID(_ name: String) -> RecordID { RecordID(zone: aliceNotes, recordName: name) }

func saveOfShare(_ name: String, _ changes: ShareChanges) -> RecordSave {
    var save = RecordSave(id: id(name), recordType: ShareRecord.type, changes: .empty)
    save.share = .changes(changes)
    return save
}

/// A record of a participant.
func sharedSave(
    _ name: String,
    _ fields: [String: FieldValue] = [:],
    parent: RecordSave.ParentChange = .unchanged
) -> RecordSave {
    var record = save(name, fields, parent: parent)
    record.id = sharedID(name)
    return record
}

func child(_ name: String, of parent: String) -> RecordSave { save(name, parent: .set(recordName: parent)) }

func participant(
    _ user: String,
    _ permission: SharePermission = .readWrite,
    role: ShareRole = .privateUser
) -> ShareParticipant {
    ShareParticipant(
        id: "p" + user,
        identity: UserIdentity(lookup: .userRecordName(user)),
        role: role,
        permission: permission
    )
}
