import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformanceTests

/// Files of formats 6 and 7.
extension FormatTests {
    private static let large = file(2, size: 5_000)

    private static let filed: [String: FieldValue] = ["count": .int64(13), "file": .asset(file(1))]
    private static let files: [String: FieldValue] = ["files": .assetList([file(1), Self.large])]

    @Test
    func `a file of format 6 opens, keeps its records, and clients go on from their tokens`() async throws {
        let folder = try FixtureContents.folder(ofFormat: 6)
        #expect(try await OtherProcess(folder: folder).count("sweep") == 1)
        let it = try EngineUnderTest(.sqlite, openingFilesIn: folder)
        let count = FixtureRecord(name: "", position: 20, created: 12, fields: [:])
        let known = [
            FixtureContents.inbox, FixtureContents.one.saved(45, after: 23, Self.filed),
            FixtureContents.two.saved(34, after: 18, Self.files),
            FixtureContents.three.saved(30, after: 15, ["count": .int64(3)]),
            FixtureContents.seven.saved(37, after: 19),
            count.named("m2").saved(32, after: 17, ["count": .int64(23)]),
            count.named("m4").saved(26, after: 13, ["count": .int64(41)]),
            count.named("m5").saved(29, after: 15, ["count": .int64(50)], parent: "f1"),
        ]
        try await FixtureContents.expect(known, in: it)
        let open = FixtureContents.open.saved(5, after: 20, ["file": .asset(file(1))])
        try await FixtureContents.expect([open], by: it.publicly, in: it)
        let deletions = ["n4 13", "n5 14", "n6 15", "m1 28", "m3 31", "a5 38"]
        #expect(try await FixtureContents.deletions(in: it) == deletions)
        let feed = try await it.all(after: FixtureContents.zoneToken)
        #expect(feed.items == ["m4", "-m1", "m5", "n3", "-m3", "m2", "n2", "n7", "-a5", "n1"])
        let zones = DatabaseFeedRead(token: FixtureContents.databaseToken)
        #expect(try await it.databaseChanges(zones).items.map(\.text) == ["_defaultZone", "notes", "-gone"])
        #expect(try await it.wrongCounters() == [])
        try await it.swept()
        #expect(try await it.wrongCounters() == [])
        try await FixtureContents.expectDerivedRows(of: it)
        try await FixtureContents.expectReplay(by: it)
        try await FixtureContents.expectSchemas(of: it)
        #expect(
            try it.store.directory.users(ofContainer: EngineUnderTest.container).map(\.isRevoked) == [
                false, false, true,
            ]
        )
    }

    @Test
    func `a file of format 6 opens, and its assets are named, unnamed, uploaded or going as they were`()
        async throws
    {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 6))
        let stored = [(2, file(1)), (3, Self.large), (4, file(3)), (5, file(5)), (7, file(1))].map {
            StoredAsset(number: AssetNumber(rawValue: $0.0), asset: $0.1)
        }
        #expect(try it.stored() == stored)
        #expect(try await it.wrongUses() == [])
        #expect(try await it.locate([file(1), Self.large], of: id("n2")) == Array(stored.prefix(2)))
        #expect(try await it.locate([file(1)], of: id("p1", in: .default), by: it.anonymously) == [stored[4]])
        let usage = try it.store.directory.usage(ofContainer: EngineUnderTest.container)
        let alice = usage.total(ofUser: "alice")
        #expect([alice.records, alice.recordBytes, alice.assets, alice.assetBytes] == [12, 472, 5, 12_300])
        #expect([usage.total.records, usage.total.assets, usage.total.assetBytes] == [18, 6, 12_400])
        // An upload goes on, both users have sent the public file, and Bob has sent no other.
        let upload = AssetNumber(rawValue: 6)
        #expect(try await it.begin([file(4, size: 7_000), file(3)]) == [.incomplete(upload), .complete])
        for requester in [it.publicly, it.bobPublicly] {
            #expect(try await it.begin([file(1)], by: requester) == [.complete])
        }
        #expect(try await it.removals() == [1, 8].map { AssetNumber(rawValue: $0) })
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        // Assets that a client asked about again come last.
        let going: [Int64] = [1, 8, 5, 4, 6]
        #expect(try await it.removals() == going.map { AssetNumber(rawValue: $0) })
        try await it.removed(going.map { AssetNumber(rawValue: $0) })
        #expect(try await it.uploadOfBob() == AssetNumber(rawValue: 9))
        #expect(try await it.wrongUses() == [])
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: [6, 7])
    func `subscriptions of formats 6 and 7 are there, with what nobody has acknowledged`(
        format: Int
    ) async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: format))
        let subscriptions = [
            databaseSubscription("d"), query("f", type: "Folder", in: .default),
            query("q", isText("title", "one more"), in: notes), zoneSubscription("z"),
        ]
        #expect(try await it.subscriptions() == subscriptions.map { .subscription($0) })
        let open = query("p", isText("title", "public"))
        #expect(try await it.subscriptions(by: it.publicly) == [.subscription(open)])
        #expect(
            try await it.subscriptions(by: it.bobPrivately) == [.subscription(databaseSubscription("bd"))]
        )
        // In the file of format 7 others saved public records after Alice had acknowledged all.
        let openNews = format == 7 ? ["p"] : []
        #expect(try await it.news() == openNews + ["d", "q", "z"])
        #expect(try await it.news(for: 2) == openNews + ["d", "f", "q", "z"], "nothing is acknowledged")
        try await it.acknowledgeAll()
        #expect(try await it.news() == [])
        _ = try await it.modify([save("p2", in: .default)], by: it.publicly)
        #expect(try await it.news() == ["p"])
        #expect(try await it.modifySubscriptions([], deletes: ["f"]) == [.deleted])
        #expect(try await it.subscriptionIDs() == ["d", "q", "z"])
        #expect(try await it.wrongCounters() == [])
    }

    @Test
    func `a file of format 7 opens, keeps its records, and clients go on from their tokens`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 7))
        let known = [
            FixtureContents.inbox, FixtureContents.one.saved(32, after: 17, Self.filed),
            FixtureContents.two.saved(21, after: 12, Self.files), FixtureContents.three,
            FixtureContents.seven.saved(24, after: 13),
        ]
        try await FixtureContents.expect(known, in: it)
        let open = FixtureContents.open.saved(5, after: 14, ["file": .asset(file(1))])
        let service = FixtureRecord(
            name: "s1",
            zone: .default,
            position: 8,
            created: 18,
            creator: "_" + String(repeating: "1", count: 32),
            fields: ["title": .string("shop's")]
        )
        try await FixtureContents.expect([open, service], by: it.publicly, in: it)
        #expect(try await FixtureContents.deletions(in: it) == ["n4 13", "n5 14", "n6 15", "a5 25"])
        let feed = try await it.all(after: FixtureContents.zoneToken)
        #expect(feed.items == ["n2", "n7", "-a5", "n1"])
        #expect(try await it.wrongUses() == [])
        #expect(try await it.wrongCounters() == [])
        try await FixtureContents.expectDerivedRows(of: it)
        try await FixtureContents.expectReplay(by: it)
        try await FixtureContents.expectSchemas(of: it)
    }

    @Test
    func `a file of format 7 opens, and lets in those it let in`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 7))
        let directory = it.store.directory
        func admit(_ claim: CredentialClaim) throws -> Admittance {
            try directory.admit(claim, toContainer: EngineUnderTest.container, environment: .development)
        }
        func key(_ id: Character, onBehalfOf user: String? = nil) -> CredentialClaim {
            .serviceKey(id: String(repeating: id, count: 64), onBehalfOf: user)
        }
        func identity(_ name: String) -> CredentialClaim {
            let end = it.clock.milliseconds + 1_000
            return .identity(IdentityClaim(userName: name, newUserRecordName: nil, expiresMilliseconds: end))
        }
        let users = try directory.users(ofContainer: EngineUnderTest.container)
        #expect(users.map(\.name) == ["ada", "alice", "bob", "carol", "eve", "shop"])
        #expect(users.filter(\.isRevoked).map(\.name) == ["carol", "eve"])
        #expect(users.filter(\.isService).map(\.name) == ["shop"])
        let keys = try directory.serviceKeys(ofContainer: EngineUnderTest.container)
        #expect(keys.map(\.keyID) == ["a", "b"].map { String(repeating: $0, count: 64) })
        #expect(keys.map(\.isRevoked) == [false, true])
        #expect(keys.map(\.onBehalfOf) == [["alice"], []])
        let shop = try admit(key("a")).signIn
        #expect(shop.userRecordName == "_" + String(repeating: "1", count: 32))
        #expect(shop.privateDatabase == nil)
        #expect(try admit(key("a", onBehalfOf: "alice")).signIn == it.signIn)
        #expect(
            try directory.publicKey(
                ofServiceKey: String(repeating: "a", count: 64),
                inContainer: EngineUnderTest.container
            ) == [UInt8](repeating: 3, count: 91)
        )
        for claim in [key("a", onBehalfOf: "bob"), key("b"), identity("eve"), identity("shop")] {
            #expect(throws: DirectoryError.tokenUnknown) { try admit(claim) }
        }
        // A user of an identity provider.
        let ada = try admit(identity("ada")).signIn
        let requester = Requester(
            database: try #require(ada.privateDatabase),
            scope: .private,
            environment: ada.environment,
            userRecordName: ada.userRecordName
        )
        let record = FixtureRecord(
            name: "d1",
            zone: .default,
            position: 2,
            created: 19,
            creator: "_" + String(repeating: "9", count: 32),
            fields: ["title": .string("ada's")]
        )
        try await FixtureContents.expect([record], by: requester, in: it)
        // The token before is good until its time is over.
        let before = CredentialClaim.accessToken(hash: [UInt8](repeating: 7, count: 32))
        #expect(try admit(before).signIn == it.bobSignIn)
        #expect(try admit(before).expiresMilliseconds == 1_700_000_560_000)
        it.clock.advance(milliseconds: 560_000)
        #expect(throws: DirectoryError.tokenUnknown) { try admit(before) }
        #expect(try directory.credentialChanges(after: 0).version == 5)
    }
}

extension EngineUnderTest {
    /// Begins an upload of what others have sent, and returns its number.
    fileprivate func uploadOfBob() async throws -> AssetNumber? {
        try await self.begin([file(1)], by: self.bobPrivately)[0].number
    }
}
