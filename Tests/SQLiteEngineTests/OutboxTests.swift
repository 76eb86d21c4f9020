import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Joining and leaving write the owner's database first; the reader's follows from the outbox.
@Suite(.timeLimit(.minutes(10)))
struct OutboxTests {
    /// The side that looks first after a server that stopped between the two has started again.
    enum FirstLook: CaseIterable {
        case owner, reader
    }

    private static func scene() async throws -> (it: EngineUnderTest, share: Share) {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let share = try await it.share("list") {
            $0.participants = [participant(EngineUnderTest.bob, .readWrite)]
        }
        return (it, share)
    }

    /// From here on no entry leaves the outbox, so that every transaction of a reader's side fails.
    private static func stopBetween(_ it: EngineUnderTest) async throws {
        try await OtherProcess(folder: it.folder).execute(
            """
            CREATE TRIGGER stop BEFORE DELETE ON view_refresh BEGIN SELECT RAISE(ABORT, 'stop'); END
            """
        )
    }

    private static func restarted(_ it: EngineUnderTest) async throws -> EngineUnderTest {
        let other = OtherProcess(folder: it.folder)
        #expect(try await other.count("view_refresh") == 1, "the owner's side is on disk with its entry")
        await it.store.shutdown()
        try await other.execute("DROP TRIGGER stop")
        return try await it.reopened()
    }

    private static func hasJoined(_ it: EngineUnderTest) async throws -> Bool {
        try #require(try await it.share(named: "share")).participant(EngineUnderTest.bob)?.acceptance
            == .accepted
    }

    @Test(arguments: FirstLook.allCases)
    func `a join of which only the owner's side is on disk is finished at the next start`(
        first: FirstLook
    ) async throws {
        let scene = try await Self.scene()
        try await Self.stopBetween(scene.it)
        let id = scene.it.newRequestID()
        await #expect(throws: StoreError.internalFault) {
            _ = try await scene.it.accept(scene.share.token, by: scene.it.bobShared, id: id)
        }
        let it = try await Self.restarted(scene.it)
        if first == .owner { #expect(try await Self.hasJoined(it)) }
        #expect(try await it.sharedZones(by: it.bobShared).items == ["notes"])
        #expect(try await it.record(sharedID("list"), by: it.bobShared) != nil)
        if first == .reader { #expect(try await Self.hasJoined(it)) }
        // The client that got no answer asks again.
        guard case .shareAccepted = try await it.accept(scene.share.token, by: it.bobShared, id: id) else {
            Issue.record("not accepted")
            return
        }
        #expect(try await it.sharedZones(by: it.bobShared).items == ["notes"])
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: FirstLook.allCases)
    func `a leave of which only the owner's side is on disk is finished at the next start`(
        first: FirstLook
    ) async throws {
        let scene = try await Self.scene()
        try await scene.it.join(scene.share, by: scene.it.bobShared)
        let token = try await scene.it.sharedZones(by: scene.it.bobShared).token
        try await Self.stopBetween(scene.it)
        await #expect(throws: StoreError.internalFault) {
            _ = try await scene.it.modify([], deletes: [sharedID("share")], by: scene.it.bobShared)
        }
        let it = try await Self.restarted(scene.it)
        if first == .owner { #expect(try await !Self.hasJoined(it)) }
        let zones = try await it.sharedZones(after: token, by: it.bobShared).items
        #expect(zones == ["-notes"])
        #expect(try await it.record(sharedID("list"), by: it.bobShared) == nil)
        if first == .reader { #expect(try await !Self.hasJoined(it)) }
        #expect(try await it.wrongCounters() == [])
    }
}
