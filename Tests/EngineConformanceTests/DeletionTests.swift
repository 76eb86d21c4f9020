import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// Users and containers that an operator deletes.
@Suite(.timeLimit(.minutes(10)))
struct DeletionTests {
    private static let alice = Deletion.user(name: "alice", container: EngineUnderTest.container)
    private static let bob = Deletion.user(name: "bob", container: EngineUnderTest.container)

    /// Alice shares a list with Bob, and has 300 notes beside it, a file, a subscription and a
    /// public record.
    private static func scene(_ kind: EngineKind) async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(kind)
        try it.store.directory.setHistoryDays(1, ofContainer: EngineUnderTest.container)
        try await it.upload(file(1))
        _ = try await it.modify([save("with file", ["file": .asset(file(1))])])
        _ = try await it.modify((0..<300).map { save("n\($0)", ["title": .string("note \($0)")]) })
        _ = try await it.modify(
            (0..<20).map { save("n\($0)", ["title": .string("other \($0)")]) },
            policy: .changedKeys
        )
        _ = try await it.modifySubscriptions([databaseSubscription("d")])
        let share = try await it.share("list") { $0.participants = [participant(EngineUnderTest.bob)] }
        try await it.join(share, by: it.bobShared)
        #expect(try await it.sharedZones(by: it.bobShared).items.count == 1)
        return it
    }

    private static func delete(_ deletion: Deletion, _ directory: Directory) async throws -> Int {
        try directory.beginDeletion(deletion)
        var pieces = 0
        while true {
            pieces += 1
            switch try directory.deleteSome(of: deletion) {
            case .more: continue
            case .sweeping: try await Task.sleep(for: .milliseconds(1))
            case .done: return pieces
            }
        }
    }

    /// What is left of a database, and of the zones that it had.
    private static func leftovers(
        _ database: DatabaseID,
        _ zones: [RememberedZone],
        in it: EngineUnderTest
    ) async throws -> [String] {
        let tables = try await it.snapshot { (snapshot) throws(StorageFailure) in
            func count<Row: TableRow>(_ index: RowIndex<Row>) throws(StorageFailure) -> Int {
                try snapshot.count(RowRange(index, database))
            }
            let tokens = try snapshot.rows(RowRange(ShareTokenRow.byKey)).filter { $0.database == database }
            let counts = [
                ("zone", try count(ZoneRow.byKey)), ("zone tombstone", try count(ZoneTombstoneRow.byKey)),
                ("request", try count(RequestRow.byKey)), ("sweep", try count(SweepRow.byKey)),
                ("subscription", try count(SubscriptionRow.byOwner)),
                ("asset use", try count(AssetUseRow.byKey)),
                ("past", try count(PastRow.byKey)), ("past zone", try count(PastZoneRow.byKey)),
                ("membership change", try count(MembershipChangeRow.byKey)),
                ("share", try count(ShareRow.byName)), ("share token", tokens.count),
                ("share reader", try count(ShareReaderRow.byKey)),
                ("view refresh", try count(ViewRefreshRow.byKey)),
            ]
            return counts.filter { $0.1 > 0 }.map(\.0)
        }
        var found = tables
        for zone in zones { found += try await zone.contents(in: it) }
        return found
    }

    @Test(arguments: EngineKind.allCases)
    func `a user who is deleted leaves no row, and takes shares and files along`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        let databases = [it.privately.database, it.signIn.sharedDatabase!]
        let extent = try it.store.directory.extent(of: Self.alice)
        #expect(extent.users == 1 && extent.shares == 1 && extent.memberships == 0)
        // Her own record and the share are records as well.
        #expect(extent.stored.records == 304 && extent.stored.assets == 1)
        let zones = try await RememberedZone.all(of: databases[0], in: it)
        let before = try await Self.leftovers(databases[0], zones, in: it)
        #expect(Set(before).isSuperset(of: ["records", "changes", "entries", "zone", "request"]))

        let pieces = try await Self.delete(Self.alice, it.store.directory)
        #expect(pieces > 3)
        for database in databases {
            let own = zones.filter { $0.key.database == database }
            #expect(try await Self.leftovers(database, own, in: it) == [])
        }
        #expect(try it.store.directory.users(ofContainer: EngineUnderTest.container).map(\.name) == ["bob"])
        #expect(throws: DirectoryError.tokenUnknown) { try it.signIn(named: "alice") }
        #expect(throws: DirectoryError.userMissing) { try it.store.directory.beginDeletion(Self.alice) }
        #expect(try await it.zones(by: it.bobShared).isEmpty)
        let usage = try it.store.directory.usage(ofContainer: EngineUnderTest.container)
        #expect(!usage.databases.contains { $0.user?.hasPrefix("_deleted") == true || $0.user == "alice" })
        #expect(try it.rows(AssetRow.self).map(\.state) == [.going])
        let open = it.publicly.database
        let user = try await it.snapshot { (snapshot) throws(StorageFailure) in
            let zone = try snapshot.zone(named: ZoneID.defaultZoneName, in: open)!
            return try snapshot.record(named: EngineUnderTest.alice, in: zone)
        }
        #expect(user == nil)
        // The name is free, and whoever has it now finds nothing of hers.
        let again = try it.newUser("alice", 77)
        #expect(try await it.zones(by: again).isEmpty)
        await it.store.shutdown()
    }

    @Test(arguments: EngineKind.allCases)
    func `a participant who is deleted is gone from the share`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind)
        func participants() async throws -> [String]? {
            try await it.share(named: "share")?.participants.map(\.identity.userRecordName)
        }
        #expect(try await participants()?.contains(EngineUnderTest.bob) == true)
        #expect(try it.store.directory.extent(of: Self.bob).memberships == 1)
        _ = try await Self.delete(Self.bob, it.store.directory)
        #expect(try await participants()?.contains(EngineUnderTest.bob) == false)
        #expect(try await it.record(id("list")) != nil)
        #expect(try await Self.leftovers(it.bobSignIn.sharedDatabase!, [], in: it) == [])
        await it.store.shutdown()
    }

    @Test(arguments: EngineKind.allCases)
    func `a container that is deleted can be made anew, and has nothing of the old one`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        let container = EngineUnderTest.container
        _ = try await it.modify([save("public note", in: .default, ["title": .string("x")])], by: it.publicly)
        #expect(try it.store.directory.extent(of: .container(container)).users == 2)
        var zones: [RememberedZone] = []
        for database in try it.rows(DatabaseRow.self).map(\.number) {
            zones += try await RememberedZone.all(of: database, in: it)
        }
        #expect(zones.count > 3)
        _ = try await Self.delete(.container(container), it.store.directory)
        #expect(try it.store.directory.containers() == [])
        #expect(throws: DirectoryError.containerMissing) {
            try it.store.directory.users(ofContainer: container)
        }
        for zone in zones { #expect(try await zone.contents(in: it) == []) }
        #expect(try it.count(FieldRow.self) == 0)

        try it.store.directory.createContainer(container)
        #expect(try it.store.directory.users(ofContainer: container) == [])
        let alice = try it.newUser("alice", 5)
        #expect(try await it.zones(by: alice).isEmpty)
        await it.store.shutdown()
    }

    @Test(arguments: EngineKind.allCases)
    func `a deletion that was broken off is done when it is run again, in another process`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.scene(kind)
        try it.store.directory.beginDeletion(Self.alice)
        _ = try it.store.directory.deleteSome(of: Self.alice)
        #expect(throws: DirectoryError.tokenUnknown) { try it.signIn(named: "alice") }
        #expect(
            try it.store.directory.users(ofContainer: EngineUnderTest.container).map(\.name) == [
                "alice", "bob",
            ]
        )
        let zones = try await RememberedZone.all(of: it.privately.database, in: it)
        let next = try await it.reopenedUnasked()
        _ = try await Self.delete(Self.alice, next.store.directory)
        #expect(try await Self.leftovers(it.privately.database, zones, in: next) == [])
        await next.store.shutdown()
    }
}
