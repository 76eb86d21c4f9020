import RecordModel
import RecordStore
import TestSupport
import Testing
import WireProtocol

@testable import RecordServer

/// The pace at which users may guess URLs of shares.
@Suite struct GuessPaceTests {
    private let clock = ManualClock()

    private func ask(_ count: Int, misses: Int, _ pace: inout GuessPace, by user: String = "_a") -> UInt32? {
        let wait = pace.asked(count, by: user, nowMilliseconds: self.clock.milliseconds)
        if wait == nil {
            pace.answered(count, misses: misses, by: user, nowMilliseconds: self.clock.milliseconds)
        }
        return wait
    }

    @Test func `misses of a minute may come at once, then one more each time a part of it has passed`() {
        var pace = GuessPace(missesPerMinuteMax: 100, askingMax: 400)
        for _ in 0..<100 { #expect(self.ask(1, misses: 1, &pace) == nil) }
        #expect(self.ask(1, misses: 1, &pace) == 600)
        #expect(self.ask(1, misses: 1, &pace, by: "_b") == nil)
        self.clock.advance(milliseconds: 599)
        #expect(self.ask(1, misses: 1, &pace) == 1)
        self.clock.advance(milliseconds: 1)
        #expect(self.ask(1, misses: 1, &pace) == nil)
        #expect(self.ask(1, misses: 0, &pace) == 600)
    }

    @Test func `what leads somewhere costs nothing`() {
        var pace = GuessPace(missesPerMinuteMax: 3, askingMax: 400)
        for _ in 0..<1_000 { #expect(self.ask(400, misses: 0, &pace) == nil) }
        #expect(pace.count == 0)
        #expect(self.ask(400, misses: 2, &pace) == nil)
        #expect(self.ask(1, misses: 1, &pace) == nil)
        #expect(self.ask(1, misses: 0, &pace) == 20_000)
    }

    @Test func `the time to wait is true, however many misses came with one request`() throws {
        for missesMax in [1, 7, 100, 1_000_000] {
            var pace = GuessPace(missesPerMinuteMax: missesMax, askingMax: 400)
            var misses = 0
            while misses < missesMax + 250 {
                if let wait = self.ask(400, misses: 400, &pace) {
                    self.clock.advance(milliseconds: Int64(wait))
                }
                misses += 400
            }
            guard let wait = self.ask(1, misses: 0, &pace) else { continue }
            self.clock.advance(milliseconds: Int64(wait) - 1)
            #expect(self.ask(1, misses: 0, &pace) != nil, "\(missesMax)")
            self.clock.advance(milliseconds: 1)
            #expect(self.ask(1, misses: 0, &pace) == nil, "\(missesMax)")
        }
    }

    @Test func `many requests at one time tell no more than two do`() {
        var pace = GuessPace(missesPerMinuteMax: 100, askingMax: 400)
        let now = self.clock.milliseconds
        var asked = 0
        for _ in 0..<128 where pace.asked(399, by: "_a", nowMilliseconds: now) == nil { asked += 399 }
        #expect(asked == 798)
        #expect(pace.asked(1, by: "_a", nowMilliseconds: now) == 1_000)
        // Not found out after all, as when the engine is overloaded: it costs nothing.
        for _ in 0..<2 { pace.answered(399, misses: 0, by: "_a", nowMilliseconds: now) }
        #expect(pace.count == 0)
    }

    @Test func `no more users are remembered than the bound says`() {
        var pace = GuessPace(missesPerMinuteMax: 1, askingMax: 400)
        for number in 0..<65_536 { _ = self.ask(1, misses: 1, &pace, by: "_\(number)") }
        #expect(pace.count == 65_536)
        _ = self.ask(1, misses: 1, &pace, by: "_one more")
        #expect(pace.count == 1)
        self.clock.advance(milliseconds: 60_000)
        #expect(self.ask(1, misses: 0, &pace, by: "_one more") == nil)
        #expect(pace.count == 0)
    }

    @Test func `a clock that is set back costs nobody more than his misses`() throws {
        var pace = GuessPace(missesPerMinuteMax: 10, askingMax: 10)
        for _ in 0..<10 { _ = self.ask(1, misses: 1, &pace) }
        self.clock.advance(milliseconds: -86_400_000)
        let wait = try #require(self.ask(1, misses: 0, &pace))
        #expect(wait <= 3 * 60_000)
    }

    // MARK: - Over the wire

    @Test(.timeLimit(.minutes(10)))
    func `who has guessed too often gets no answer for a while, also for a URL that leads somewhere`()
        async throws
    {
        try await ServerUnderTest.run(configure: { $0.bounds.shareMissesPerMinuteMax = 4 }) { server in
            let peer = try await server.signIn()
            let token = try await Self.token(ofShareMadeBy: peer)
            var stream: UInt32 = 101
            func ask(_ operation: Operation) async throws -> (items: [Item], end: End) {
                stream += 2
                try await peer.send(operation, on: stream)
                return try await peer.answer(on: stream)
            }
            let all = [token, "guess", token]
            let found = try await ask(.fetchShareMetadata(FetchShareMetadata(tokens: all)))
            #expect(found.items.compactMap(\.refusal?.code) == [.unknownItem])
            for operation in Self.requests("guess") {
                let answer = try await ask(operation)
                #expect(answer.end.failure == nil)
                #expect(answer.items.compactMap(\.refusal?.code) == [.unknownItem])
            }
            for operation in Self.requests("guess") + Self.requests(token) {
                let answer = try await ask(operation)
                #expect(answer.items.isEmpty)
                #expect(answer.end.failure?.code == .requestRateLimited)
                #expect(answer.end.failure?.retry == .after(milliseconds: 15_000))
            }
            server.clock.advance(milliseconds: 15_000)
            for operation in Self.requests(token) {
                #expect(try await ask(operation).items.allSatisfy { $0.refusal == nil })
            }
            let stranger = try await server.signIn(token: "")
            for (number, operation) in Self.requests(token).enumerated() {
                try await stranger.send(operation, on: UInt32(2 * number + 1))
                let answer = try await stranger.answer(on: UInt32(2 * number + 1))
                #expect(answer.end.failure?.code == .notAuthenticated)
            }
        }
    }

    /// Each way to ask where a URL leads.
    private static func requests(_ token: String) -> [Operation] {
        [
            .fetchShareMetadata(FetchShareMetadata(tokens: [token])),
            .acceptShares(AcceptShares(tokens: [token])),
            .requestShareAccess(RequestShareAccess(tokens: [token])),
        ]
    }

    private static func token(ofShareMadeBy peer: TestPeer) async throws -> String {
        let zone = ServerUnderTest.zone
        try await peer.send(.modifyZones(ModifyZones(scope: .private, saves: [zone])), on: 1)
        _ = try await peer.answer(on: 1)
        let id = RecordID(zone: zone, recordName: "share")
        var share = RecordSave(id: id, recordType: ShareRecord.type, changes: .empty)
        share.share = .changes(ShareChanges(root: "root"))
        let root = RecordSave(
            id: RecordID(zone: zone, recordName: "root"),
            recordType: "Note",
            changes: .empty
        )
        try await peer.send(.modifyRecords(ModifyRecords(scope: .private, saves: [root, share])), on: 3)
        _ = try await peer.answer(on: 3)
        try await peer.send(.fetchRecords(FetchRecords(scope: .private, ids: [id])), on: 5)
        guard case .record(let message)? = try await peer.answer(on: 5).items.first?.outcome,
            let contents = try message.record().body.share
        else { throw UnexpectedFrame(frame: nil) }
        return contents.token
    }
}

extension Item {
    fileprivate var refusal: Failure? {
        guard case .failure(let failure) = self.outcome else { return nil }
        return failure
    }
}
