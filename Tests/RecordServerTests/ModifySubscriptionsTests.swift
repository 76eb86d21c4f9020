import NIOCore
import RecordModel
import Testing
import WireProtocol

/// Subscriptions over TLS.
@Suite(.timeLimit(.minutes(10)))
struct ModifySubscriptionsTests {
    private static func query(_ id: String, alert: String = "") -> RecordModel.Subscription {
        var info = NotificationInfo()
        info.alertBody = alert
        let kind = RecordModel.Subscription.Kind.query(
            recordType: id,
            predicate: .all,
            zone: nil,
            firesOn: [.creation, .once]
        )
        return RecordModel.Subscription(id: id, kind: kind, info: info)
    }

    private static func modify(
        _ saves: [RecordModel.Subscription],
        deletes: [String] = [],
        scope: DatabaseScope = .private
    ) -> Operation {
        .modifySubscriptions(ModifySubscriptions(scope: scope, saves: saves, deletes: deletes))
    }

    private static func fetch(
        _ selection: FetchSubscriptions.Selection,
        scope: DatabaseScope = .private
    ) -> Operation {
        .fetchSubscriptions(FetchSubscriptions(scope: scope, selection: selection))
    }

    @Test func `each item is answered with its subscription, its deletion or its failure`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            let saves = [Self.query("A", alert: "hello"), Self.query("1"), Self.query("B")]
            try await peer.send(Self.modify(saves, deletes: ["none"]), on: 1)
            let answer = try await peer.answer(on: 1)
            #expect(answer.end == End())
            let items = answer.items.sorted { $0.index < $1.index }
            #expect(items.map(\.index) == [0, 1, 2, 3])
            #expect(
                items[0].outcome == .subscription(saves[0]) && items[2].outcome == .subscription(saves[2])
            )
            #expect(items[1].code == .invalidArguments && items[3].code == .unknownItem)
            try await peer.send(Self.modify([], deletes: ["B"]), on: 3)
            #expect(try await peer.answer(on: 3).items.map(\.outcome) == [.deleted])
            try await peer.send(Self.fetch(.ids(["B", "A"])), on: 5)
            let some = try await peer.answer(on: 5).items.sorted { $0.index < $1.index }
            #expect(some[0].code == .unknownItem && some[1].outcome == .subscription(saves[0]))
            try await peer.send(Self.fetch(.all), on: 7)
            #expect(try await peer.answer(on: 7).items.map(\.outcome) == [.subscription(saves[0])])
        }
    }

    @Test func `a duplicate is refused with the other's ID`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            var twin = Self.query("A")
            twin.id = "twin"
            try await peer.send(Self.modify([Self.query("A"), twin]), on: 1)
            let items = try await peer.answer(on: 1).items.sorted { $0.index < $1.index }
            guard case .failure(let failure) = items[1].outcome else { return #expect(Bool(false)) }
            #expect(failure.code == .serverRejectedRequest)
            #expect(failure.message == "subscription is duplicate of 'A'")
            #expect(failure.cause == .culprit && failure.retry == .never)
        }
    }

    @Test func `a request is refused for who sends it, for its database and for its shape`() async throws {
        try await ServerUnderTest.run { server in
            let one = [Self.query("A")]
            let many = (0...400).map { "\($0)" }
            let peer = try await server.signIn()
            let stranger = try await server.signIn(token: "")
            let refused: [(TestPeer, Operation, ErrorCode)] = [
                (stranger, Self.modify(one, scope: .shared), .notAuthenticated),
                (stranger, Self.fetch(.all, scope: .shared), .notAuthenticated),
                (peer, Self.modify(one, deletes: ["A"]), .invalidArguments),
                (peer, Self.modify([], deletes: many), .limitExceeded),
                (peer, Self.fetch(.ids(many)), .limitExceeded),
                (stranger, Self.modify(one), .notAuthenticated),
                (stranger, Self.modify(one, scope: .public), .notAuthenticated),
                (stranger, Self.fetch(.all), .notAuthenticated),
                (stranger, Self.fetch(.all, scope: .public), .notAuthenticated),
            ]
            for (number, (peer, operation, code)) in refused.enumerated() {
                let stream = UInt32(2 * number + 1)
                try await peer.send(operation, on: stream)
                let answer = try await peer.answer(on: stream)
                #expect(answer.end.failure?.code == code && answer.items.isEmpty, "\(number)")
            }
            let request = Request(requestID: nil, deadlineMilliseconds: 0, operation: Self.modify(one))
            try await peer.send(Frame(kind: .request, stream: 101, payload: request.encoded()))
            #expect(try await peer.answer(on: 101).end.failure?.code == .invalidArguments)
            try await peer.send(Self.fetch(.all), on: 103)
            #expect(try await peer.answer(on: 103).items == [])
        }
    }

    @Test func `an answer longer than a window comes as it is taken`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn(
                windows: Windows(connectionBytes: 1 << 20, streamBytes: 65_536)
            )
            let saves = (0..<40).map { Self.query("S\($0)", alert: String(repeating: "x", count: 2_000)) }
            try await peer.send(Self.modify(saves), on: 1)
            try await peer.send(Self.credit(on: 1))
            #expect(try await peer.answer(on: 1).items.count == 40)
            try await peer.send(Self.fetch(.all), on: 3)
            try await peer.send(Self.credit(on: 3))
            let items = try await peer.answer(on: 3).items
            #expect(Set(items.map(\.outcome)) == Set(saves.map { .subscription($0) }))
        }
    }

    private static func credit(on stream: UInt32) -> Frame { .credit(1 << 20, on: stream) }
}

extension Item {
    fileprivate var code: ErrorCode? {
        guard case .failure(let failure) = self.outcome else { return nil }
        return failure.code
    }
}
