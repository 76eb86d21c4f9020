import RecordModel
import RecordStore
import SQLiteEngine
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Files that earlier releases wrote, and those that this one refuses.
@Suite(.timeLimit(.minutes(10)))
struct FormatTests {
    private static let large = file(2, size: 5_000)

    private static let filed: [String: FieldValue] = ["count": .int64(13), "file": .asset(file(1))]
    private static let files: [String: FieldValue] = ["files": .assetList([file(1), Self.large])]

    @Test
    func `a file of format 1 opens, keeps its records, and clients go on from their tokens`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 1))
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
    func `a file of format 1 opens, and its subscriptions have what was not acknowledged`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 1))
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
        // Others saved public records after Alice had acknowledged all.
        #expect(try await it.news() == ["p", "d", "q", "z"])
        #expect(try await it.news(for: 2) == ["p", "d", "f", "q", "z"], "nothing is acknowledged")
        try await it.acknowledgeAll()
        #expect(try await it.news() == [])
        _ = try await it.modify([save("p2", in: .default)], by: it.publicly)
        #expect(try await it.news() == ["p"])
        #expect(try await it.modifySubscriptions([], deletes: ["f"]) == [.deleted])
        #expect(try await it.subscriptionIDs() == ["d", "q", "z"])
        #expect(try await it.wrongCounters() == [])
    }

    @Test
    func `a file of format 1 opens, and lets in those it let in`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 1))
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

    /// A file of before 0.1.0 has a number of its own, and the marks of migrations that are gone.
    @Test(arguments: [1, 7, 14])
    func `a file of before the first release is refused by name, and left as it is`(number: Int) async throws
    {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        await it.store.shutdown()
        let other = OtherProcess(folder: it.folder)
        try await other.execute([
            "UPDATE grdb_migrations SET identifier = '1'", "PRAGMA user_version = \(number)",
        ])
        #expect(throws: SQLiteEngineError.formatUnreleased(path: StoreFile.path(in: it.folder.path))) {
            _ = try it.beside()
        }
        let backup = try TemporaryDirectory()
        #expect(throws: StoreCopyError.formatUnreleased) {
            _ = try StoreFile(in: it.folder.path).copy(to: StoreFile.path(in: backup.path)) { _ in }
        }
        #expect(try await other.execute("PRAGMA user_version") == ["\(number)"])
    }

    @Test
    func `a file without checksums is refused as one of before the first release`() throws {
        let folder = try TemporaryDirectory()
        try PlainFile(path: StoreFile.path(in: folder.path)).run("CREATE TABLE record (name TEXT)")
        #expect(throws: SQLiteEngineError.formatUnreleased(path: StoreFile.path(in: folder.path))) {
            _ = try EngineUnderTest(.sqlite, openingFilesIn: folder)
        }
    }

    @Test
    func `a file of a later format is refused and left as it is`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        await it.store.shutdown()
        let other = OtherProcess(folder: it.folder)
        let known = StoreFile.format
        try await other.execute("PRAGMA user_version = \(known + 1)")
        #expect(throws: SQLiteEngineError.formatTooNew(found: known + 1, known: known)) {
            _ = try it.beside()
        }
        try await other.execute("PRAGMA user_version = \(known)")
        #expect(try await it.beside().record(id("absent")) == nil)
    }
}
