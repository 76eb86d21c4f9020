import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// A connection is not notified of a change that it made itself.
@Suite(.timeLimit(.minutes(10)))
struct OriginTests {
    private static let bobsNumber = 0

    private static func scene(_ kind: EngineKind) async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(kind)
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

    @Test(arguments: EngineKind.allCases)
    func `the connection that changes a shared zone is not notified of it`(kind: EngineKind) async throws {
        let it = try await Self.scene(kind)
        let pushes = PushedNotifications(of: it)
        try await pushes.listen(as: Self.bobsNumber, it.bobSignIn)
        try await Self.change(it, from: pushes)
        _ = try await it.zones(by: it.bobShared)
        #expect(try pushes.take().keys.sorted() == [pushes.connections(of: Self.bobsNumber)[1]])
    }

    /// The connections of a server are numbered from the same number at each start.
    @Test(arguments: EngineKind.allCases)
    func `a change that waits over a restart is told to the connection that has its maker's number now`(
        kind: EngineKind
    ) async throws {
        let before = try await Self.scene(kind)
        let old = PushedNotifications(of: before)
        try await Self.change(before, from: old)
        let it = try await before.reopened()
        let pushes = PushedNotifications(of: it)
        try await pushes.listen(as: Self.bobsNumber, it.bobSignIn)
        // As if the server had ended before the shared database was told.
        let maker = old.origin(old.connections(of: Self.bobsNumber)[0])
        try it.store.engine.administer { transaction in
            for share in try transaction.rows(RowRange(ShareRow.byKey)) {
                try transaction.put(ShareNewsRow(share: share.number, origin: maker))
            }
        }
        it.clock.advance(milliseconds: 1_000)
        _ = try await it.modify([save("any", in: .default)])
        try await it.waitUntilEmpty(ShareNewsRow.self)
        _ = try await it.zones(by: it.bobShared)
        #expect(try pushes.take().keys.sorted() == pushes.connections(of: Self.bobsNumber))
    }
}
