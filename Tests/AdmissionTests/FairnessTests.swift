import Admission
import TestSupport
import Testing

/// Accounts, bounds that holders share, and turns.
@Suite struct FairnessTests {
    private static func user(_ name: String) -> AccountHolder { .user(environment: 1, name) }

    private let alice = Self.user("alice")
    private let bob = Self.user("bob")
    private let carol = Self.user("carol")

    // MARK: - Shared bounds

    @Test func `One greedy holder gets half, and a second one a third`() {
        let bound = SharedBound(capacity: 600)
        var held = [0, 0]
        while bound.admits(1, own: held[0], all: held[0] + held[1]) { held[0] += 1 }
        #expect(held[0] == 300)
        while bound.admits(1, own: held[1], all: held[0] + held[1]) { held[1] += 1 }
        #expect(held == [300, 150])
        // What the first one gives back, both may have.
        while !bound.admits(1, own: held[1], all: held[0] + held[1]) { held[0] -= 1 }
        #expect(held[0] + 2 * held[1] == 598)
    }

    @Test(arguments: 1...40) func `There is room for one more beside any number of greedy holders`(
        _ holders: Int
    ) {
        let bound = SharedBound(capacity: 2_000)
        var held = Array(repeating: 0, count: holders)
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for holder in held.indices
            where bound.admits(1, own: held[holder], all: held.reduce(0, +)) {
                held[holder] += 1
                isGrowing = true
            }
        }
        let all = held.reduce(0, +)
        let newcomer = bound.room(own: 0, all: all)
        #expect(all < 2_000)
        #expect(newcomer >= 2_000 / (2 * (holders + 1)) - 1)
        #expect(bound.admits(newcomer, own: 0, all: all))
        #expect(!bound.admits(newcomer + 1, own: 0, all: all))
    }

    // MARK: - Turns

    @Test func `What one holder has waiting is served in the order in which it came`() {
        var queue = TurnQueue<AccountHolder, Int>(quantum: 3)
        for number in 0..<200 { queue.append(number, of: self.alice, cost: number % 7) }
        #expect(queue.count(of: self.alice) == 200)
        var served: [Int] = []
        while let next = queue.popFirst() { served.append(next) }
        #expect(served == Array(0..<200))
        #expect(queue.isEmpty && queue.cost == 0 && queue.holders == 0)
    }

    @Test func `A flood of one holder delays another by no more than a turn`() {
        var queue = TurnQueue<AccountHolder, String>(quantum: 10)
        for number in 0..<1_000 { queue.append("alice \(number)", of: self.alice, cost: 10) }
        _ = queue.popFirst()
        queue.append("bob", of: self.bob, cost: 10)
        #expect([queue.popFirst(), queue.popFirst()].contains("bob"))
    }

    @Test func `Holders are served as much each, whatever the size of what they ask for`() {
        var queue = TurnQueue<AccountHolder, (AccountHolder, Int)>(quantum: 10)
        for _ in 0..<100 { queue.append((self.alice, 50), of: self.alice, cost: 50) }
        for _ in 0..<5_000 { queue.append((self.bob, 1), of: self.bob, cost: 1) }
        for _ in 0..<1_000 { queue.append((self.carol, 7), of: self.carol, cost: 7) }
        var served: [AccountHolder: Int] = [:]
        for _ in 0..<2_000 {
            guard let (holder, cost) = queue.popFirst() else { break }
            served[holder, default: 0] += cost
        }
        let amounts = [self.alice, self.bob, self.carol].map { served[$0, default: 0] }
        #expect((amounts.max() ?? 0) - (amounts.min() ?? 0) <= 60)
    }

    @Test func `A cost that becomes known afterwards is taken from the next turns`() {
        var queue = TurnQueue<AccountHolder, String>(quantum: 1)
        for _ in 0..<10 { queue.append("alice", of: self.alice, cost: 1) }
        for _ in 0..<10 { queue.append("bob", of: self.bob, cost: 1) }
        #expect(queue.popFirst() == "alice")
        queue.charge(5, of: self.alice)
        let next = (0..<6).compactMap { _ in queue.popFirst() }
        #expect(next.count { $0 == "bob" } >= 4)
    }

    @Test func `A debt outlives what its holder has waiting, as long as somebody else waits`() {
        var queue = TurnQueue<AccountHolder, String>(quantum: 1)
        queue.append("alice", of: self.alice, cost: 1)
        #expect(queue.popFirst() == "alice")
        for _ in 0..<20 { queue.append("bob", of: self.bob, cost: 1) }
        queue.charge(10, of: self.alice)
        queue.append("alice", of: self.alice, cost: 1)
        let next = (0..<9).compactMap { _ in queue.popFirst() }
        #expect(!next.contains("alice"))
        #expect((0..<4).compactMap { _ in queue.popFirst() }.contains("alice"))
    }

    @Test func `Who comes and goes gets no more than who stays`() {
        var queue = TurnQueue<AccountHolder, AccountHolder>(quantum: 4)
        for _ in 0..<1_000 { queue.append(self.alice, of: self.alice, cost: 1) }
        queue.append(self.bob, of: self.bob, cost: 1)
        var served: [AccountHolder: Int] = [:]
        for _ in 0..<1_000 {
            guard let next = queue.popFirst() else { break }
            served[next, default: 0] += 1
            if next == self.bob { queue.append(self.bob, of: self.bob, cost: 1) }
        }
        #expect(served[self.bob, default: 0] <= served[self.alice, default: 0] + 4)
        #expect(served[self.bob, default: 0] > 0)
    }

    @Test func `What is not wanted stays the next`() {
        var queue = TurnQueue<AccountHolder, Int>(quantum: 2)
        var generator = SeededGenerator(seed: 18)
        let holders = (0..<5).map { Self.user("user \($0)") }
        var number = 0
        for _ in 0..<5_000 {
            let holder = holders.randomElement(using: &generator) ?? self.alice
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                queue.append(number, of: holder, cost: Int.random(in: 0...5, using: &generator))
                number += 1
            case 2: queue.charge(Int.random(in: -2...9, using: &generator), of: holder)
            default:
                var shown: Int?
                let refused = queue.popFirst { next in
                    shown = next
                    return false
                }
                #expect(refused == nil)
                #expect(queue.popFirst() == shown)
            }
            #expect(holders.reduce(0) { $0 + queue.count(of: $1) } == queue.count)
            #expect(holders.reduce(0) { $0 + queue.cost(of: $1) } == queue.cost)
            #expect(holders.count { queue.count(of: $0) > 0 } == queue.holders)
        }
    }
}
