import RecordModel
import RecordStore
import TestSupport
import Testing

/// A connection is not notified of a change that it made itself.
@Suite(.timeLimit(.minutes(5)))
struct OriginTests {
    private static let bobsNumber = 0

    private static func scene() async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let share = try await it.share("list") {
            $0.participants = [participant(EngineUnderTest.bob, .readWrite)]
        }
        try await it.join(share, by: it.bobShared)
        _ = try await it.modifySubscriptions([databaseSubscription("d")], by: it.bobShared)
        _ = try await it.zones(by: it.bobShared)
        return it
    }

    /// Bob changes the shared list from the first of two connections.
    private static func change(_ it: EngineUnderTest, from pushes: PushedNotifications) async throws {
        it.clock.advance(milliseconds: 1_000)
        let change = ModifyRecords(
            scope: .shared,
            saves: [sharedSave("list", ["n": .int64(1)])],
            policy: .changedKeys
        )
        let outcomes = try await it.write(
            .modifyRecords(change),
            by: it.bobShared,
            origin: pushes.origin(pushes.connections(of: self.bobsNumber)[0])
        ).get()
        #expect(outcomes.areSaved)
    }

    @Test
    func `the connection that changes a shared zone is not notified of it`() async throws {
        let it = try await Self.scene()
        let pushes = PushedNotifications(of: it)
        try await pushes.listen(as: Self.bobsNumber, it.bobSignIn)
        try await Self.change(it, from: pushes)
        _ = try await it.zones(by: it.bobShared)
        #expect(try pushes.take().keys.sorted() == [pushes.connections(of: Self.bobsNumber)[1]])
    }

    /// The connections of a server are numbered from the same number at each start.
    @Test
    func `a change that waits over a restart is told to the connection that has its maker's number now`()
        async throws
    {
        let before = try await Self.scene()
        let other = OtherProcess(folder: before.folder)
        try await other.execute([
            "CREATE TABLE kept (share, origin)",
            """
            CREATE TRIGGER keep AFTER INSERT ON share_news
            BEGIN INSERT INTO kept VALUES (NEW.share, NEW.origin); END
            """,
        ])
        try await Self.change(before, from: PushedNotifications(of: before))
        let it = try await before.reopened()
        let pushes = PushedNotifications(of: it)
        try await pushes.listen(as: Self.bobsNumber, it.bobSignIn)
        try await other.execute(["DROP TRIGGER keep", "INSERT INTO share_news SELECT * FROM kept"])
        it.clock.advance(milliseconds: 1_000)
        _ = try await it.modify([save("any", in: .default)])
        while try await other.count("share_news") > 0 {}
        _ = try await it.zones(by: it.bobShared)
        #expect(try pushes.take().keys.sorted() == pushes.connections(of: Self.bobsNumber))
    }
}
