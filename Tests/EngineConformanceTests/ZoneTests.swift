import RecordModel
import RecordStore
import StorageContract
import Testing

@testable import EngineConformance

@Suite(.timeLimit(.minutes(10)))
struct ZoneTests {
    private static let custom: ZoneCapabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]

    private static func zone(_ name: String) -> Zone {
        Zone(
            id: ZoneID(zoneName: name),
            capabilities: name == ZoneID.defaultZoneName ? [.fetchChanges] : self.custom
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `zones are created once, listed by name and fetched by ID`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        let outcomes = try await it.modifyZones(["b", "a"])
        #expect(outcomes == [.zoneSaved(Self.zone("b")), .zoneSaved(Self.zone("a"))])
        #expect(try await it.modifyZones(["a"]) == [.zoneSaved(Self.zone("a"))])
        #expect(
            try await it.zones()
                == [.zone(Self.zone("_defaultZone")), .zone(Self.zone("a")), .zone(Self.zone("b"))]
        )
        let some = [ZoneID(zoneName: "b"), ZoneID(zoneName: "c"), .default]
        #expect(
            try await it.zones(.ids(some))
                == [.zone(Self.zone("b")), .failed(.zoneMissing), .zone(Self.zone("_defaultZone"))]
        )
        #expect(try await it.zones(by: it.bobPrivately) == [.zone(Self.zone("_defaultZone"))])
    }

    @Test(arguments: EngineKind.allCases)
    func `the default zone and bad names are refused one by one, and absent zones are deleted`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        let outcomes = try await it.modifyZones(["_defaultZone", "_x", "ok"], deletes: ["absent"])
        #expect(outcomes[0] == .failed(.zoneNotModifiable))
        #expect(outcomes[1] == .failed(.nameInvalid(.zone)))
        #expect(outcomes[2] == .zoneSaved(Self.zone("ok")))
        #expect(outcomes[3] == .deleted)
        let foreign = ModifyZones(
            scope: .private,
            saves: [],
            deletes: [ZoneID(zoneName: "ok", ownerName: "_x")]
        )
        #expect(try await it.write(.modifyZones(foreign)).get() == [.failed(.zoneMissing)])
        #expect(try await it.modifyZones([], deletes: ["_defaultZone"]) == [.failed(.zoneNotModifiable)])
        await #expect(throws: StoreError.databaseNotAllowed) {
            try await it.modifyZones(["a"], by: it.publicly)
        }
        await #expect(throws: StoreError.savedAndDeleted) { try await it.modifyZones(["a"], deletes: ["a"]) }
        await #expect(throws: StoreError.duplicateItem) { try await it.modifyZones(["a", "a"]) }
    }

    @Test(arguments: EngineKind.allCases)
    func `an encryption scope is fixed when a zone is created, and comes with the zone`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        func save(_ name: String, _ scope: EncryptionScope, id: RequestID? = nil) async throws -> WriteOutcome
        {
            let save = ZoneSave(id: ZoneID(zoneName: name), encryptionScope: scope)
            let operation = ModifyZones(scope: .private, zoneSaves: [save])
            return try await it.write(.modifyZones(operation), id: id).get()[0]
        }
        var sealed = Self.zone("sealed")
        sealed.encryptionScope = .perZone
        sealed.capabilities.remove(.sharing)
        let id = it.newRequestID()
        #expect(try await save("sealed", .perZone, id: id) == .zoneSaved(sealed))
        #expect(try await save("sealed", .perZone, id: id) == .zoneSaved(sealed), "a replay")
        #expect(try await save("sealed", .perZone) == .zoneSaved(sealed))
        #expect(try await save("sealed", .perRecord) == .failed(.encryptionScopeFixed(.perZone)))
        #expect(try await save("notes", .perZone) == .failed(.encryptionScopeFixed(.perRecord)))
        #expect(try await it.zones(.ids([sealed.id])) == [.zone(sealed)])
        // What is written into the zone, and what is kept with it, leaves the scope.
        let record = EngineConformance.save("a", in: sealed.id)
        let operation = ModifyRecords(scope: .private, saves: [record], clientToken: [7])
        #expect(try await it.write(.modifyRecords(operation)).get().areSaved)
        #expect(try await it.zones(.ids([sealed.id])) == [.zone(sealed)])
        #expect(try await it.wrongCounters() == [])
        // Another zone of the name is another zone.
        #expect(try await it.modifyZones([], deletes: ["sealed"]) == [.deleted])
        #expect(try await save("sealed", .perRecord) == .zoneSaved(Self.zone("sealed")))
    }

    @Test(arguments: EngineKind.allCases)
    func `a zone with one key is shared as a whole only`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let zone = ZoneID(zoneName: "sealed")
        let creation = ModifyZones(
            scope: .private,
            zoneSaves: [ZoneSave(id: zone, encryptionScope: .perZone)]
        )
        #expect(try await it.write(.modifyZones(creation)).get().allSatisfy { $0.error == nil })
        func share(_ name: String, root: String?) async throws -> WriteOutcome {
            var changes = ShareChanges(root: root)
            changes.publicPermission = .readOnly
            var share = saveOfShare(name, changes)
            share.id.zone = zone
            let saves = [share] + (root.map { [save($0, in: zone)] } ?? [])
            return try await it.modify(saves, policy: .changedKeys, isAtomic: false)[0]
        }
        #expect(try await share("share", root: "list") == .failed(.shareConflict(.zoneIsOneScope)))
        #expect(StoreError.shareConflict(.zoneIsOneScope).row.code == .serverRejectedRequest)
        #expect(try await share(ShareRecord.zoneWideName, root: nil).isSaved)
        let id = RecordID(zone: zone, recordName: ShareRecord.zoneWideName)
        let saved = try #require(try await it.record(id)?.body.share)
        try await it.join(saved, by: it.bobShared)
        guard case .zone(let seen)? = try await it.zones(by: it.bobShared).first else {
            Issue.record("Bob has no zone")
            return
        }
        #expect(seen.encryptionScope == .perZone && seen.share == ShareRecord.zoneWideName)
    }

    @Test(arguments: EngineKind.allCases)
    func `a database takes so many zones, its default zone and those of shares included`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind) { $0.bounds.zonesMax = 4 }
        #expect(Bounds.defaults.zonesMax == 10_000)
        let outcomes = try await it.modifyZones(["notes", "a", "a2", "b"])
        #expect(outcomes.map(\.error) == [nil, nil, nil, .tooManyZones])
        // Those that are there are saved as before, and those of others have room of their own.
        #expect(try await it.modifyZones(["a", "b"]).map(\.error) == [nil, .tooManyZones])
        // What a request deletes makes room for the next one.
        #expect(try await it.modifyZones(["b"], deletes: ["a"]).map(\.error) == [.tooManyZones, nil])
        #expect(try await it.modifyZones(["b"]).map(\.error) == [nil])

        var shares: [Share] = []
        for (number, name) in ["one", "two", "three"].enumerated() {
            let owner = number + 1
            let shared = try it.newUser(name, owner)
            let user = Requester(
                database: try it.signIn(named: name).privateDatabase!,
                scope: .private,
                environment: shared.environment,
                userRecordName: shared.userRecordName
            )
            _ = try await it.modifyZones(["z"], by: user)
            var changes = ShareChanges(root: "root")
            changes.publicPermission = .readWrite
            let zone = ZoneID(zoneName: "z")
            var share = RecordSave(id: id("s", in: zone), recordType: ShareRecord.type, changes: .empty)
            share.share = .changes(changes)
            #expect(try await it.modify([share, save("root", in: zone)], by: user).areSaved)
            shares.append(try #require(try await it.record(id("s", in: zone), by: user)?.body.share))
        }
        // A shared database has no default zone of its own.
        let strict = try await it.reopened { $0.bounds.zonesMax = 2 }
        for share in shares.prefix(2) { try await strict.join(share, by: strict.bobShared) }
        #expect(try await strict.accept(shares[2].token, by: strict.bobShared) == .failed(.tooManyZones))
        try await strict.join(shares[0], by: strict.bobShared)
        #expect(try await strict.zones(by: strict.bobShared).count == 2)
    }

    @Test(arguments: EngineKind.allCases)
    func `an answer with more zones than it holds is refused, and fewer are fetched`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind) { $0.bounds.responseBytesMax = 10_000 }
        let names = (0..<40).map { String(repeating: "z", count: 240) + "\($0)" }
        _ = try await it.modifyZones(names)
        func refusedBytes(_ selection: FetchZones.Selection) async -> Int? {
            do {
                _ = try await it.zones(selection)
                return nil
            } catch StoreError.responseTooLarge(let bytes) {
                return bytes
            } catch {
                return nil
            }
        }
        // It read no further than the first zone that had no room.
        for selection in [.all, FetchZones.Selection.ids(names.map { ZoneID(zoneName: $0) })] {
            let bytes = try #require(await refusedBytes(selection))
            #expect((10_001..<10_400).contains(bytes))
        }
        #expect(try await it.zones(.ids(names.prefix(20).map { ZoneID(zoneName: $0) })).count == 20)
        _ = try await it.modifyZones([], deletes: Array(names.suffix(20)))
        #expect(try await it.zones().count == 21)
    }

    @Test(arguments: EngineKind.allCases)
    func `a zone goes with everything in it, and one of the same name is another`(
        kind: EngineKind
    )
        async throws
    {
        let it = try await EngineUnderTest.withNotes(kind)
        let names = (0..<400).map { "r\($0)" }
        _ = try await it.modify(names.map { save($0) })
        _ = try await it.modify([save("h", ["r": reference("r0", .validate)])])
        #expect(try await it.modifyZones([], deletes: ["notes"]) == [.deleted])
        #expect(try await it.fetch([id("r0")]) == [.failed(.zoneMissing)])
        #expect(try await it.modify([save("r0")]) == [.failed(.zoneMissing)])
        _ = try await it.modifyZones(["notes"])
        let gone = try await it.fetch(names.map { id($0) })
        #expect(gone.allSatisfy { $0 == .failed(.recordMissing) })
        let again = try await it.modify(names.prefix(300).map { save($0) })
        #expect(again.areSaved)
        // The writer sweeps what the first zone left while these are saved; nothing of the second may go.
        for round in 0..<20 { _ = try await it.modify([save("more\(round)")]) }
        let reopened = try await it.reopened()
        let found = try await reopened.fetch(names.prefix(300).map { id($0) })
        #expect(found.allSatisfy { if case .record = $0 { true } else { false } })
        #expect(try await reopened.record(id("h")) == nil)
        #expect(try await reopened.modify([], deletes: [id("r0")]) == [.deleted])
    }
}
