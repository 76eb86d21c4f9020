import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformance

/// Joining writes the owner's database first; the reader's follows from the outbox.
@Suite(.timeLimit(.minutes(10)))
struct OutboxTests {
    @Test(arguments: EngineKind.allCases)
    func `shares of several owners are joined in one request`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.share("list") { $0.participants = [participant(EngineUnderTest.bob, .readWrite)] }
        let carol = try it.newUser("carol", 0xCA)
        _ = try await it.modifyZones(["notes"], by: it.bobPrivately)
        var changes = ShareChanges(root: "own")
        changes.publicPermission = .readOnly
        let saved = try await it.modify(
            [saveOfShare("share", changes), save("own")],
            policy: .changedKeys,
            by: it.bobPrivately
        )
        #expect(saved.areSaved)
        let bobs = try #require(
            try await it.record(id("share"), by: it.bobPrivately)?.body.share
        )
        let open = try await it.share("open", named: "second")
        let tokens = [open.token, "nowhere", bobs.token, open.token]
        let outcomes = try await it.write(.acceptShares(AcceptShares(tokens: tokens)), by: carol).get()
        #expect(outcomes.map { $0.error == nil } == [true, false, true, true])
        #expect(try await it.sharedZones(by: carol).items == ["notes", "notes"])
        #expect(try await it.wrongCounters() == [])
    }
}
