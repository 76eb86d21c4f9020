import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

/// An owner's zone, those who may have joined shares in it, and what each has been told of it.
final class SharingWorld {
    struct Reader {
        let signIn: SignIn
        let requester: Requester
        /// Records by name, with their tags, as the feed has told.
        var known: [String: String] = [:]
        var token: [UInt8]?
        /// What the feed of the shared database has told: whether the zone is there.
        var hasZone = false
        var databaseToken: [UInt8]?
        /// Every record that was ever readable: what may be said to be gone.
        var everReadable: Set<String> = []
    }

    /// What the last step has changed in the owner's zone.
    struct Step {
        /// A record, and the value of its field before and after.
        struct NoteChange {
            let name: String
            let before: Int64?
            let after: Int64?
            let reason: RecordModel.Notification.Reason
        }

        /// Names of records and shares that have a new state or are gone.
        var changed: Set<String> = []
        /// Of these the records.
        var notes: [NoteChange] = []
        /// The connection that changed it; `nil` if none that listens did.
        var origin: UInt64?
    }

    /// What a share knows of readers besides who has joined.
    struct ShareEntries {
        var publicPermission: SharePermission
        /// Those who have not joined, with what they will be allowed.
        var invited: [Int: SharePermission] = [:]
        /// Those who joined because they were invited.
        var privateUsers: Set<Int> = []
        var blocked: Set<Int> = []
    }

    static let names = (0..<14).map { "r\($0)" }
    static let allNames = names + (0..<4).map { "s\($0)" } + [ShareRecord.zoneWideName]

    let it: EngineUnderTest
    let pushes: PushedNotifications
    var generator: SeededGenerator
    /// Comparisons of what a user is shown, and of their notifications.
    var (checks, pushChecks) = (0, 0)
    var readers: [Reader]
    /// Records without shares: the name of the parent, if it has one.
    private(set) var parents: [String: String?] = [:]
    /// What their field has.
    private var values: [String: Int64] = [:]
    /// Roots by the names of their shares; `nil` stands for the zone.
    private(set) var shares: [String: String?] = [:]
    /// The users who have joined each share, with their permissions.
    private(set) var joined: [String: [Int: SharePermission]] = [:]
    /// The users who take part in each share, or may, other than by its URL alone.
    private var entries: [String: ShareEntries] = [:]
    private(set) var last = Step()
    private let isZoneWide: Bool
    /// What was done, for whoever looks for the reason of a failure.
    private(set) var history: [String] = []

    init(_ kind: EngineKind, generator: SeededGenerator) async throws {
        var generator = generator
        self.it = try await EngineUnderTest.withNotes(kind)
        self.isZoneWide = Int.random(in: 0..<5, using: &generator) == 0
        let carol = try self.it.newUser("carol", 0xCA)
        let dave = try self.it.newUser("dave", 0xDA)
        self.readers = try [
            Reader(signIn: self.it.bobSignIn, requester: self.it.bobShared),
            Reader(signIn: self.it.signIn(named: "carol"), requester: carol),
            Reader(signIn: self.it.signIn(named: "dave"), requester: dave),
        ]
        self.generator = generator
        self.pushes = PushedNotifications(of: self.it)
        try await self.subscribeAll()
    }

    // MARK: - Steps

    func step() async throws {
        let rights = self.readers.indices.map { self.rights(of: $0) }
        self.last = Step()
        self.it.clock.advance(milliseconds: Int64.random(in: 0..<40, using: &self.generator))
        switch Int.random(in: 0..<24, using: &self.generator) {
        case 0..<5: try await self.save(by: nil)
        case 5..<8: try await self.save(by: self.readers.indices.randomElement(using: &self.generator))
        case 8..<10: try await self.delete(by: nil)
        case 10: try await self.delete(by: self.readers.indices.randomElement(using: &self.generator))
        case 11..<14: try await self.makeShare()
        case 14..<17: try await self.join()
        case 17: try await self.leave()
        case 18..<20: try await self.changePermission()
        case 20..<22: try await self.invite()
        case 22: try await self.block()
        default: try await self.endShare()
        }
        for reader in self.readers.indices { try await self.check(reader) }
        try await self.checkPushes(rightsBefore: rights)
    }

    /// A request from the first connection of a reader or of the owner.
    private func write(
        _ operation: WriteRequest.Operation,
        by reader: Int?
    ) async throws -> WriteOutcome {
        let connection = self.pushes.connections(of: reader)[0]
        let requester = reader.map { self.readers[$0].requester }
        let outcomes = try await self.it.write(
            operation,
            by: requester,
            origin: self.pushes.origin(connection)
        ).get()
        self.last.origin = connection
        return outcomes[0]
    }

    private func modify(
        _ saves: [RecordSave],
        deletes: [RecordID] = [],
        by reader: Int? = nil
    ) async throws -> WriteOutcome {
        let operation = ModifyRecords(
            scope: reader == nil ? .private : .shared,
            saves: saves,
            deletes: deletes,
            policy: .changedKeys
        )
        return try await self.write(.modifyRecords(operation), by: reader)
    }

    /// Notes that a record has another state than before, or is gone.
    private func note(_ name: String, value: Int64?, reason: RecordModel.Notification.Reason) {
        self.last.changed.insert(name)
        let change = Step.NoteChange(name: name, before: self.values[name], after: value, reason: reason)
        self.last.notes.append(change)
        self.values[name] = value
    }

    private func name() -> String { Self.names.randomElement(using: &self.generator)! }

    /// A save of a record with a parent or without, by the owner or by a participant.
    private func save(by reader: Int?) async throws {
        let name = self.name()
        let parent: String?? =
            switch Int.random(in: 0..<4, using: &self.generator) {
            case 0: .some(nil)
            case 1: nil
            default: .some(self.parents.keys.sorted().randomElement(using: &self.generator))
            }
        let change: RecordSave.ParentChange =
            switch parent {
            case nil: .unchanged
            case .some(nil): .removed
            case .some(let parent?): .set(recordName: parent)
            }
        let value = Int64.random(in: 0..<1_000, using: &self.generator)
        let fields = ["n": FieldValue.int64(value)]
        let record =
            reader == nil
            ? EngineConformance.save(name, fields, parent: change)
            : sharedSave(name, fields, parent: change)
        let outcome = try await self.modify([record], by: reader)
        let wanted = parent ?? self.parents[name] ?? nil
        self.history.append("\(reader ?? -1) saves \(name) under \(wanted ?? "-"): \(outcome.tag ?? "no")")
        if let reader { self.expect(outcome, ofSaving: name, under: wanted, by: reader) }
        guard outcome.isSaved else { return }
        self.note(name, value: value, reason: self.parents[name] == nil ? .recordCreated : .recordUpdated)
        self.parents[name] = .some(wanted)
    }

    /// A participant's save succeeds only where they may write before and after.
    private func expect(_ outcome: WriteOutcome, ofSaving name: String, under parent: String?, by reader: Int)
    {
        self.checks += 1
        guard outcome.isSaved else { return }
        if self.parents[name] != nil {
            #expect(
                self.permission(of: reader, on: name) == .readWrite,
                "\(name) was not \(reader)'s to change"
            )
        }
        var isInShare = self.isRoot(name) || self.shares.values.contains(nil)
        if let parent { isInShare = isInShare || self.permission(of: reader, on: parent) == .readWrite }
        #expect(isInShare, "\(name) came where \(reader) may not write")
    }

    private func delete(by reader: Int?) async throws {
        let name = self.name()
        let id = reader == nil ? id(name) : sharedID(name)
        let isThere = self.parents[name] != nil
        let outcome = try await self.modify([], deletes: [id], by: reader)
        self.history.append("\(reader ?? -1) deletes \(name): \(outcome == .deleted && isThere)")
        guard outcome == .deleted, isThere else { return }
        if let reader {
            self.checks += 1
            let permission = self.permission(of: reader, on: name)
            // What is absent for the user is deleted without effect.
            guard permission != nil else { return }
            // A participant who deletes a root leaves its share, and the root stays.
            if let share = self.shares.first(where: { $0.value == name })?.key {
                self.forget(reader, in: share)
                return
            }
            #expect(permission == .readWrite, "\(name) was not \(reader)'s to delete")
        }
        self.note(name, value: nil, reason: .recordDeleted)
        self.parents[name] = nil
        for (share, root) in self.shares where root == name { self.forget(share) }
    }

    private func makeShare() async throws {
        let number = Int.random(in: 0..<4, using: &self.generator)
        let root = self.isZoneWide ? nil : self.parents.keys.sorted().randomElement(using: &self.generator)
        guard self.isZoneWide || root != nil else { return }
        let name = self.isZoneWide ? ShareRecord.zoneWideName : "s\(number)"
        guard self.shares[name] == nil else { return }
        let permission = self.permission()
        let mayBe = !self.isShared(root, orBelow: true)
        do {
            try await self.it.share(root, named: name) { $0.publicPermission = permission }
            #expect(mayBe, "\(root ?? "the zone") was shared twice")
            self.shares[name] = .some(root)
            self.joined[name] = [:]
            self.entries[name] = ShareEntries(publicPermission: permission)
            self.last.changed.insert(name)
            if let root { self.note(root, value: self.values[root], reason: .recordUpdated) }
            self.history.append("\(name) shares \(root ?? "all") \(permission)")
        } catch let error as StoreError {
            #expect(!mayBe, "\(root ?? "the zone"): \(error)")
        }
        self.checks += 1
    }

    private func join() async throws {
        guard let share = self.shares.keys.sorted().randomElement(using: &self.generator),
            let contents = try await self.it.share(named: share)
        else { return }
        let reader = self.readers.indices.randomElement(using: &self.generator)!
        let granted = self.permission(of: reader, joining: share)
        let outcome = try await self.write(
            .acceptShares(AcceptShares(tokens: [contents.token])),
            by: reader
        )
        self.checks += 1
        guard let granted else {
            #expect(outcome == .failed(.permissionDenied(.read)))
            return
        }
        guard case .shareAccepted = outcome else {
            Issue.record("\(reader) has not joined \(share): \(outcome)")
            return
        }
        if self.joined[share]?[reader] == nil { self.last.changed.insert(share) }
        self.joined[share]?[reader] = granted
        if self.entries[share]?.invited.removeValue(forKey: reader) != nil {
            self.entries[share]?.privateUsers.insert(reader)
        }
        self.history.append("\(reader) joins \(share)")
    }

    /// What a user may do who comes with the URL of a share, or `nil` if they do not get in.
    private func permission(of reader: Int, joining share: String) -> SharePermission? {
        if let joined = self.joined[share]?[reader] { return joined }
        guard let entries = self.entries[share], !entries.blocked.contains(reader) else { return nil }
        return entries.invited[reader] ?? (entries.publicPermission == .none ? nil : entries.publicPermission)
    }

    private func permission() -> SharePermission {
        [SharePermission.none, .readOnly, .readWrite].randomElement(using: &self.generator)!
    }

    /// The owner changes who takes part.
    private func change(_ share: String, _ changes: ShareChanges, _ words: String) async throws {
        guard try await self.modify([self.it.saveOfShareNow(share, changes)]).isSaved else {
            Issue.record("\(share) was not saved")
            return
        }
        self.last.changed.insert(share)
        self.history.append("\(share) \(words)")
    }

    private func invite() async throws {
        guard let share = self.shares.keys.sorted().randomElement(using: &self.generator),
            self.entries[share]?.publicPermission == SharePermission.none
        else { return }
        let reader = self.readers.indices.randomElement(using: &self.generator)!
        let permission = Bool.random(using: &self.generator) ? SharePermission.readWrite : .readOnly
        var changes = ShareChanges()
        changes.participants = [
            participant(self.readers[reader].requester.userRecordName!, permission)
        ]
        try await self.change(share, changes, "invites \(reader) \(permission)")
        self.entries[share]?.blocked.remove(reader)
        if self.joined[share]?[reader] != nil {
            self.joined[share]?[reader] = permission
        } else {
            self.entries[share]?.invited[reader] = permission
        }
    }

    private func block() async throws {
        guard let share = self.shares.keys.sorted().randomElement(using: &self.generator) else { return }
        let reader = self.readers.indices.randomElement(using: &self.generator)!
        var changes = ShareChanges()
        changes.blocked = [self.readers[reader].requester.userRecordName!]
        try await self.change(share, changes, "blocks \(reader)")
        self.joined[share]?[reader] = nil
        self.entries[share]?.invited[reader] = nil
        self.entries[share]?.privateUsers.remove(reader)
        self.entries[share]?.blocked.insert(reader)
    }

    private func leave() async throws {
        guard let share = self.shares.keys.sorted().randomElement(using: &self.generator) else { return }
        let reader = self.readers.indices.randomElement(using: &self.generator)!
        guard Bool.random(using: &self.generator) else { return try await self.deleteZone(reader) }
        let outcome = try await self.modify([], deletes: [sharedID(share)], by: reader)
        #expect(outcome == .deleted || outcome == .failed(.zoneMissing))
        self.history.append("\(reader) leaves \(share)")
        self.forget(reader, in: share)
    }

    /// A participant who was invited stays invited.
    private func deleteZone(_ reader: Int) async throws {
        let zones = ModifyZones(scope: .shared, saves: [], deletes: [aliceNotes])
        #expect(try await self.write(.modifyZones(zones), by: reader) == .deleted)
        self.history.append("\(reader) deletes the zone")
        for (share, joined) in self.joined {
            guard let permission = joined[reader] else { continue }
            let wasInvited = self.entries[share]?.privateUsers.contains(reader) ?? false
            self.forget(reader, in: share)
            if wasInvited { self.entries[share]?.invited[reader] = permission }
        }
    }

    private func forget(_ reader: Int, in share: String) {
        if self.joined[share]?[reader] != nil { self.last.changed.insert(share) }
        self.joined[share]?[reader] = nil
        self.entries[share]?.privateUsers.remove(reader)
    }

    private func changePermission() async throws {
        guard let share = self.shares.keys.sorted().randomElement(using: &self.generator),
            var entries = self.entries[share], var joined = self.joined[share]
        else { return }
        var changes = ShareChanges()
        let permission = self.permission()
        changes.publicPermission = permission
        try await self.change(share, changes, "is \(permission)")
        guard permission != entries.publicPermission else { return }
        entries.publicPermission = permission
        if permission == .none {
            joined = joined.filter { entries.privateUsers.contains($0.key) }
        } else {
            entries.invited = [:]
            for reader in joined.keys where !entries.privateUsers.contains(reader) {
                joined[reader] = permission
            }
        }
        self.entries[share] = entries
        self.joined[share] = joined
    }

    private func endShare() async throws {
        guard let share = self.shares.keys.sorted().randomElement(using: &self.generator) else { return }
        #expect(try await self.modify([], deletes: [id(share)]) == .deleted)
        if let root = self.shares[share] ?? nil {
            self.note(root, value: self.values[root], reason: .recordUpdated)
        }
        self.history.append("\(share) ends")
        self.forget(share)
    }

    private func forget(_ share: String) {
        self.last.changed.insert(share)
        self.shares[share] = nil
        self.joined[share] = nil
        self.entries[share] = nil
    }
}
