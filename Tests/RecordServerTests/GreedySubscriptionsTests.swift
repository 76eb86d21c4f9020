import RecordModel
import RecordServer
import RecordStore
import Testing
import WireProtocol

/// Subscriptions that cost more than their user may, against the real server.
@Suite(.timeLimit(.minutes(10)))
struct GreedySubscriptionsTests {
    private static let subscriptions = 100
    private static let comparisons = 300

    @Test
    func `a user's costly subscriptions hear that there may be news, and another user hears what it is`()
        async throws
    {
        try await ServerUnderTest.run { server in
            try server.addOther()
            let writer = try await server.writer()
            try await writer.succeed(Self.save(["first"]))
            // As many as a request may have comparisons for.
            for first in stride(from: 0, to: Self.subscriptions, by: 10) {
                let saves = (first..<first + 10).map { Self.costly($0) }
                try await writer.succeed(
                    .modifySubscriptions(ModifySubscriptions(scope: .public, saves: saves))
                )
            }
            let other = Writer(peer: try await server.signIn(token: ServerUnderTest.otherToken))
            try await other.succeed(.modifyZones(ModifyZones(scope: .private, saves: [ServerUnderTest.zone])))
            try await other.subscribe(.zone())
            let greedy = try await server.listen()
            let listener = try await server.listen(
                installation: [UInt8](repeating: 2, count: 16),
                token: ServerUnderTest.otherToken
            )

            try await other.succeed(Self.save((0..<400).map { "\($0)" }))
            try await other.succeed(.save(["private"]))
            let heard = try await listener.notification()
            #expect(heard.subscriptionID == "zone")
            #expect(!heard.isCoalesced)

            var told: Set<String> = []
            while told.count < Self.subscriptions {
                let news = try await greedy.notification()
                #expect(news.event == .query(nil))
                // Others are of the time before it listened.
                if news.isCoalesced { told.insert(news.subscriptionID) }
                try await greedy.acknowledge(news.number)
            }
            // All of them would have been twelve million.
            let all = Self.subscriptions * Self.comparisons * 400
            #expect(Self.value(of: .subscriptionComparisons, server) < Double(all / 2))
            #expect(Self.value(of: .subscriptionHints, server) >= Double(Self.subscriptions))
        }
    }

    private static func value(of name: MetricName, _ server: ServerUnderTest) -> Double {
        let samples = server.server.metrics.first { $0.name == name }?.samples ?? []
        guard case .number(let value)? = samples.first?.value else { return -1 }
        return value
    }

    /// All of its comparisons but the last are met.
    private static func costly(_ number: Int) -> Subscription {
        let limits = (1..<Self.comparisons).map { -Int64($0) } + [1_000_000 + Int64(number)]
        let parts = limits.map { limit in
            Predicate.comparison(
                Comparison(field: "count", comparator: .greaterThan, operand: .int64(limit))
            )
        }
        let kind = Subscription.Kind.query(
            recordType: "Item",
            predicate: .and(parts),
            zone: nil,
            firesOn: .events
        )
        return Subscription(id: "\(number)", kind: kind)
    }

    private static func save(_ names: [String]) -> RecordModel.Operation {
        let body = RecordBody([Field(name: "count", value: .int64(1))])
        let zone = ZoneID(zoneName: ZoneID.defaultZoneName)
        return .modifyRecords(
            ModifyRecords(
                scope: .public,
                saves: names.map {
                    RecordSave(id: RecordID(zone: zone, recordName: $0), recordType: "Item", changes: body)
                }
            )
        )
    }
}
