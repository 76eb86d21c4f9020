import Admission
import RecordModel
import RecordStore
import StorageContract
import Testing

@testable import RecordServer

/// What a user's subscriptions may cost, and what becomes of those that would cost more.
struct RoutingBudgetTests {
    private static let definitions = Sample.definitions(["count": .int64])
    private static let limits = RoutingBudget.Limits(debtMax: 2_000, perSecond: 1_000, totalPerSecond: 1_500)
    private static let carol = SignIn(
        environment: Sample.environment,
        publicDatabase: Sample.publicDatabase,
        privateDatabase: DatabaseID(rawValue: 3),
        userRecordName: "_carol"
    )

    @Test func `nobody owes more than is left for the others, and time pays it off`() {
        var budget = RoutingBudget(Self.limits)
        let holders = ["_a", "_b", "_c"].map {
            AccountHolder.user(environment: Sample.environment.rawValue, $0)
        }
        let accounts = holders.map { budget.account(of: $0) }
        _ = budget.pay(nowMilliseconds: 0)
        var spent = accounts.map { _ in 0 }
        for _ in 0..<1_000 {
            for (number, account) in accounts.enumerated() where budget.admits(account) {
                budget.charge(10, to: account)
                spent[number] += 10
            }
        }
        // A quarter for each of three.
        for sum in spent { #expect(abs(sum - 500) <= 10) }
        // One that comes later finds room.
        let late = budget.account(of: .user(environment: Sample.environment.rawValue, "_late"))
        #expect(budget.admits(late))
        // Three share what all pay off in a second.
        let isPaid = budget.pay(nowMilliseconds: 1_000)
        #expect(isPaid)
        for account in accounts { #expect(account.debt <= 10) }
        let isPaidAgain = budget.pay(nowMilliseconds: 1_001)
        #expect(!isPaidAgain)
    }

    @Test func `who comes back owes what was owed`() {
        var budget = RoutingBudget(Self.limits)
        let holder = AccountHolder.user(environment: Sample.environment.rawValue, "_a")
        budget.charge(900, to: budget.account(of: holder))
        #expect(budget.account(of: holder).debt == 900)
        #expect(budget.admits(budget.account(of: holder)))
        budget.charge(100, to: budget.account(of: holder))
        #expect(!budget.admits(budget.account(of: holder)))
    }

    @Test
    func
        `a thousand subscriptions of three hundred comparisons cost what a user may cost, and carol hears at once`()
        throws
    {
        var routing = NotificationRouting(loops: 1, run: Sample.run)
        routing.timePassed(nowMilliseconds: 0)
        // All but the last comparison of each are met, and nothing demands one value.
        let greedy = (0..<1_000).map { number in
            let parts = (0..<300).map {
                Self.above($0 == 299 ? 1_000_000 + Int64(number) : Int64($0) - 1_000)
            }
            return Sample.watched(
                "\(number)",
                Sample.query("Note", .and(parts)),
                database: Sample.publicDatabase
            )
        }
        routing.start(Sample.listener(1), greedy)
        let mine = Sample.watched("mine", Sample.query(), database: DatabaseID(rawValue: 3), owner: "_carol")
        routing.start(Sample.listener(2, signIn: Self.carol), [mine])
        _ = routing.takePosts()
        let batch = (0..<400).map { Self.record(10, at: 20 + Int64($0), in: Sample.publicDatabase) }
        for _ in 0..<3 { routing.committed(batch) }
        routing.committed([Self.record(10, at: 20, in: DatabaseID(rawValue: 3))])
        let limits = RoutingBudget.Limits.defaults
        let piece = 4 * 300
        #expect(routing.takeCounts().comparisons <= limits.debtMax / 2 + piece)
        let posts = routing.takePosts()[0].compactMap(\.notification)
        #expect(posts.map(\.subscriptionID) == ["mine"])
        // The greedy one hears of everything in the end, each once, and with the last position.
        var told: [String: Int64] = [:]
        var now: Int64 = 0
        while routing.isOwing {
            now += 10
            try #require(now < 10_000)
            routing.timePassed(nowMilliseconds: now)
            for case .delivery(let delivery) in routing.takePosts()[0] {
                #expect(
                    told.updateValue(
                        delivery.notification.position,
                        forKey: delivery.notification.subject.key.id
                    ) == nil
                )
                #expect(delivery.notification.isCoalesced)
            }
        }
        #expect(told.count == 1_000)
        #expect(Set(told.values) == [419])
        #expect(routing.takeCounts().news == 1_000)
    }

    @Test
    func `however much happens, a subscription hears of news once a second, and of the last at the end`()
        throws
    {
        var routing = NotificationRouting(loops: 1, run: Sample.run, limits: Self.limits)
        routing.timePassed(nowMilliseconds: 0)
        let watched = (0..<10).map { Sample.watched("\($0)", Sample.query("Note", Self.above(Int64($0)))) }
        routing.start(Sample.listener(1), watched)
        _ = routing.takePosts()
        var told: [String: [Int64]] = [:]
        var details = 0
        func look(_ now: Int64) {
            routing.timePassed(nowMilliseconds: now)
            for case .delivery(let delivery) in routing.takePosts()[0] {
                guard delivery.notification.isCoalesced else {
                    details += 1
                    continue
                }
                told[delivery.notification.subject.key.id, default: []].append(delivery.notification.position)
            }
        }
        for step in 1...300 {
            let changes = (0..<50).map { Self.record(100, at: Int64(step * 100 + $0)) }
            routing.committed(changes)
            look(Int64(step) * 10)
        }
        var now: Int64 = 3_000
        while routing.isOwing {
            now += 10
            try #require(now < 20_000)
            look(now)
        }
        #expect(told.count == 10)
        for positions in told.values {
            #expect(positions.count <= 6)
            #expect(positions == positions.sorted())
            #expect(positions.last == 30_049)
        }
        // Three seconds pay for so much.
        #expect(details * RoutingBudget.notificationCost <= 2_000 + 3_000)
    }

    @Test func `who has gone is owed nothing`() {
        var routing = NotificationRouting(loops: 1, run: Sample.run)
        routing.start(Sample.listener(1), [Sample.watched("sub", Sample.query())])
        routing.skipped(Sample.privateDatabase, upTo: 50)
        _ = routing.stopped(1)
        _ = routing.takePosts()
        routing.timePassed(nowMilliseconds: 1)
        #expect(!routing.isOwing)
        #expect(routing.takePosts()[0].isEmpty)
    }

    private static func above(_ number: Int64) -> Predicate {
        .comparison(Comparison(field: "count", comparator: .greaterThan, operand: .int64(number)))
    }

    private static func record(
        _ count: Int64,
        at position: Int64,
        in database: DatabaseID = Sample.privateDatabase
    ) -> CommittedChange {
        let record = CommittedRecord(
            zone: "Zone",
            name: "record",
            before: nil,
            after: Sample.stored([Field(name: "count", value: .int64(count))], position: position),
            definitions: self.definitions
        )
        return Sample.change(.record(record), at: position, in: database)
    }
}
