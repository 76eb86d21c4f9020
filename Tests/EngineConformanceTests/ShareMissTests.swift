import RecordModel
import RecordStore
import StorageContract
import Testing

@testable import EngineConformance

/// URLs of shares that lead nowhere.
@Suite(.timeLimit(.minutes(10)))
struct ShareMissTests {
    @Test(arguments: EngineKind.allCases)
    func `whatever is wrong with a URL that leads nowhere, the answer is the same`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let carol = try it.newUser("carol", 0xCA)
        for (reason, token) in try await Self.misses(it, usedBy: carol) {
            guard case .failed(.shareMissing) = try await it.metadata(token, by: it.bobShared) else {
                Issue.record("\(reason): metadata")
                continue
            }
            #expect(try await it.accept(token, by: it.bobShared) == .failed(.shareMissing), "\(reason)")
            let request = WriteRequest.Operation.requestShareAccess(RequestShareAccess(tokens: [token]))
            let asked = try await it.write(request, by: it.bobShared).get()
            #expect(asked == [.failed(.shareMissing)], "\(reason)")
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a share that takes no requests, or none from who asks, answers one as a URL that leads nowhere`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let closed = try await it.share("closed", named: "sc") { _ in }
        let blocking = try await it.share("blocking", named: "sb") {
            $0.allowsAccessRequests = true
            $0.blocked = [EngineUnderTest.bob]
        }
        let waiting = try await it.share("waiting", named: "sw") {
            $0.participants = [
                ShareParticipant(id: "m", identity: UserIdentity(lookup: .emailAddress("x@example.org")))
            ]
        }
        let tokens = [closed, blocking, waiting].map(\.token) + ["guessed"]
        let before = try await it.fetch(["sc", "sb", "sw"].map { id($0) })
        let request = WriteRequest.Operation.requestShareAccess(RequestShareAccess(tokens: tokens))
        let outcomes = try await it.write(request, by: it.bobShared).get()
        #expect(outcomes == tokens.map { _ in .failed(.shareMissing) })
        #expect(try await it.fetch(["sc", "sb", "sw"].map { id($0) }) == before)
    }

    /// A token for each reason why one leads nowhere.
    private static func misses(
        _ it: EngineUnderTest,
        usedBy carol: Requester
    ) async throws -> [String: String] {
        let invited = try await it.share("open", named: "so") {
            $0.participants = ["used", "gone"].map { ShareParticipant(id: $0, identity: UserIdentity()) }
            $0.allowsAccessRequests = true
        }
        let tokens = invited.participants.dropFirst().map(\.oneTimeToken)
        guard case .shareAccepted = try await it.accept(tokens[0], by: carol) else {
            Issue.record("Carol has not joined")
            return [:]
        }
        var removal = ShareChanges()
        removal.removed = ["gone"]
        #expect(try await it.changeShare("so", removal).isSaved)
        let ended = try await it.share("ended", named: "se")
        _ = try await it.modify([], deletes: [id("se")])
        let rootless = try await it.share("rootless", named: "sr")
        _ = try await it.modify([], deletes: [id("rootless")])
        return [
            "used up": tokens[0], "participant removed": tokens[1], "share ended": ended.token,
            "root deleted": rootless.token, "never was": String(ended.token.reversed()),
            "no token": "../?;\u{0}", "one letter": "a", "the longest": String(repeating: "é", count: 32),
        ]
    }
}
