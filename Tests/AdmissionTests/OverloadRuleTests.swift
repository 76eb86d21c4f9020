import Admission
import RecordModel
import Testing

/// The rule alone, with a clock that the test turns; a unit of work takes a millisecond, and 20 may be ahead.
struct OverloadRuleTests {
    private static let millisecond: Int64 = 1_000_000

    private var rule = OverloadRule(
        .init(
            waitNanoseconds: 20 * millisecond,
            lanes: 1,
            requestsMin: 3,
            bytes: SharedBound(capacity: 1_000)
        )
    )
    private var now: Int64 = 0

    init() {
        // What tells it the pace.
        self.rule.entered(.init(of: nil, work: 10))
        self.execute(nil, work: 10)
    }

    /// Executes requests of somebody, a millisecond for a unit.
    private mutating func execute(_ user: String?, requests: Int = 1, work: Int = 1) {
        self.now += Int64(work) * Self.millisecond
        self.executed(user, requests: requests, work: work)
    }

    /// The same, in time that has passed by now.
    private mutating func executed(_ user: String?, requests: Int = 1, work: Int = 1) {
        let holder = user.map { newcomer($0).holder }
        let portion = OverloadRule.Portion(of: holder, requests: requests, work: work)
        self.rule.began(portion)
        self.rule.ended([portion], nanoseconds: Int64(work) * Self.millisecond, now: self.now)
    }

    private mutating func arrive(
        _ user: String,
        mark: UInt64 = 0,
        work: Int = 1,
        bytes: Int = 0
    ) -> OverloadRule.OnArrival {
        self.rule.arrived(newcomer(user, mark: mark), work: work, bytes: bytes, now: self.now)
    }

    /// Lets more wait than may, for long enough that newcomers are refused: of so many that nobody
    /// has a fair part.
    private mutating func crowd() {
        for number in 0..<40 { #expect(self.arrive("crowd \(number)") == .admit) }
        self.now += 100 * Self.millisecond
    }

    /// Executes what waits of the crowd.
    private mutating func disperse() {
        for number in 0..<40 { self.execute("crowd \(number)") }
    }

    private mutating func waitOfRefusal(_ user: String, mark: UInt64 = 0, work: Int = 1) throws -> Int64 {
        guard case .refuse(let milliseconds) = self.arrive(user, mark: mark, work: work) else {
            Issue.record("not refused")
            return 0
        }
        return Int64(milliseconds) * Self.millisecond
    }

    @Test mutating func `a burst may wait, and what stands is refused with a time`() throws {
        for _ in 0..<1_000 { #expect(self.arrive("a") == .admit) }
        self.now += 99 * Self.millisecond
        #expect(self.arrive("a") == .admit)
        self.now += Self.millisecond
        #expect(self.arrive("a") == .refuse(retryAfterMilliseconds: 100))
        #expect(self.rule.isCrowded)
    }

    @Test mutating func `a queue that becomes short within the time is no overload`() {
        for _ in 0..<40 { #expect(self.arrive("a") == .admit) }
        self.now += 90 * Self.millisecond
        self.executed("a", requests: 31, work: 31)
        for _ in 0..<40 { #expect(self.arrive("a") == .admit) }
        self.now += 99 * Self.millisecond
        #expect(self.arrive("a") == .admit)
        #expect(!self.rule.isCrowded)
    }

    @Test mutating func `a few requests may always wait, whatever they take`() {
        for _ in 0..<3 { #expect(self.arrive("a", work: 1_000) == .admit) }
        self.execute("a", work: 1_000)
        #expect(self.arrive("a", work: 1_000) == .admit)
        #expect(!self.rule.isCrowded)
    }

    @Test mutating func `who was refused is admitted at his time, and a stranger is not`() throws {
        self.crowd()
        let wait = try self.waitOfRefusal("a", mark: 1)
        self.now += wait
        #expect(self.arrive("stranger") != .admit)
        #expect(self.arrive("a", mark: 1) == .admit)
        #expect(self.arrive("a", mark: 1) != .admit, "a place admits once")
        #expect(self.rule.counted.kept == 1)
    }

    @Test mutating func `a retry is known by its user, whatever it asks for now`() throws {
        self.crowd()
        self.now += try self.waitOfRefusal("a", mark: 1)
        #expect(self.arrive("a", mark: 99) == .admit)
    }

    @Test mutating func `who makes many requests does not take places of his own that will be used`() throws {
        self.crowd()
        var waits: [Int64] = []
        for mark in 1...4 { waits.append(try self.waitOfRefusal("a", mark: UInt64(mark))) }
        self.now += waits[3]
        #expect(self.arrive("a", mark: 99) != .admit)
        for mark in 1...4 { #expect(self.arrive("a", mark: UInt64(mark)) == .admit) }
    }

    @Test mutating func `who comes too early is told what is left, and takes no second place`() throws {
        self.crowd()
        let wait = try self.waitOfRefusal("a", mark: 1)
        for early: Int64 in [0, 1, 40, 99] {
            let start = self.now
            self.now += early * Self.millisecond
            #expect(try self.waitOfRefusal("a", mark: 1) == wait - early * Self.millisecond)
            self.now = start
        }
        #expect(self.rule.reservationCount == 1)
        #expect(self.rule.counted.reserved == 1)
        self.now += wait
        #expect(self.arrive("a", mark: 1) == .admit)
    }

    @Test mutating func `requests of one user have places of their own, one after the other`() throws {
        self.crowd()
        let first = try self.waitOfRefusal("a", mark: 1, work: 30)
        let second = try self.waitOfRefusal("a", mark: 2, work: 3)
        #expect(second == first + 60 * Self.millisecond, "30 units at half the pace")
        self.now += first
        #expect(self.arrive("a", mark: 1, work: 30) == .admit)
        #expect(self.arrive("a", mark: 2, work: 3) == .refuse(retryAfterMilliseconds: 60))
        self.now += second - first
        #expect(self.arrive("a", mark: 2, work: 3) == .admit)
    }

    @Test mutating func `a place admits as much work as was refused, and several are added up`() throws {
        self.crowd()
        _ = try self.waitOfRefusal("a", mark: 1, work: 3)
        self.now += try self.waitOfRefusal("a", mark: 2, work: 3)
        #expect(self.arrive("a", mark: 9, work: 7) != .admit)
        #expect(self.arrive("a", mark: 10, work: 6) == .admit)
        #expect(self.arrive("a", mark: 1, work: 1) != .admit)
    }

    @Test mutating func `a place is good for two seconds, and then no more`() throws {
        self.crowd()
        let wait = try self.waitOfRefusal("a", mark: 1)
        _ = try self.waitOfRefusal("b", mark: 1)
        self.now += wait + 2_000 * Self.millisecond
        #expect(self.arrive("a", mark: 1) == .admit)
        self.now += 3 * Self.millisecond
        #expect(self.arrive("b", mark: 1) != .admit)
    }

    @Test mutating func `a flood of one user takes no place of another, and not all that will be`() throws {
        self.crowd()
        let wait = try self.waitOfRefusal("a", mark: 1)
        var given = 0
        for mark in 1...10_000 where try self.waitOfRefusal("flood", mark: UInt64(mark)) <= Self.horizon {
            given += 1
        }
        #expect(given == 256)
        // The flood has at most an eighth of five seconds, so somebody who comes now is through soon.
        #expect(try self.waitOfRefusal("late", mark: 1) <= 100 * Self.millisecond + Self.horizon / 8)
        self.now += wait
        #expect(self.arrive("a", mark: 1) == .admit)
    }

    @Test mutating func `large requests of one user are given an eighth of the time ahead`() throws {
        self.crowd()
        #expect(try self.waitOfRefusal("flood", mark: 1, work: 400) <= Self.horizon)
        #expect(try self.waitOfRefusal("flood", mark: 2, work: 400) > Self.horizon)
        #expect(try self.waitOfRefusal("other", mark: 1) <= Self.horizon)
    }

    @Test mutating func `beyond the horizon nobody is promised anything, and the times differ`() throws {
        self.crowd()
        var longest: Int64 = 0
        var unpromised: Set<Int64> = []
        for user in 0..<5_000 {
            let wait = try self.waitOfRefusal("u\(user)", mark: 1)
            if wait <= Self.horizon { longest = max(longest, wait) } else { unpromised.insert(wait) }
        }
        #expect(longest > Self.horizon * 9 / 10)
        #expect(unpromised.count > 500)
        #expect(unpromised.allSatisfy { $0 <= 2 * Self.horizon })
        // 4.9 seconds at half a unit a millisecond.
        #expect((2_400...2_500).contains(self.rule.reservationCount))
    }

    @Test mutating func `a full queue refuses even who has a place, and keeps it for him`() throws {
        self.crowd()
        self.now += try self.waitOfRefusal("a", mark: 1)
        #expect(self.arrive("a", mark: 1, bytes: 2_000) == .refuse(retryAfterMilliseconds: 1))
        self.now += Self.millisecond
        #expect(self.arrive("a", mark: 1) == .admit)
    }

    @Test mutating func `a full queue is overload at once`() {
        #expect(self.arrive("a", bytes: 500) == .admit)
        #expect(self.arrive("a", bytes: 100) == .refuse(retryAfterMilliseconds: 100))
    }

    @Test mutating func `with room everybody is admitted, and a tenth of a second later all is as before`()
        throws
    {
        self.crowd()
        _ = try self.waitOfRefusal("a", mark: 1)
        self.disperse()
        #expect(self.arrive("b") == .admit)
        self.execute("b")
        #expect(self.rule.isCrowded)
        self.now += 60 * Self.millisecond
        #expect(self.arrive("b") == .admit)
        self.execute("b")
        #expect(!self.rule.isCrowded)
        self.now += 10_000 * Self.millisecond
        #expect(self.arrive("b") == .admit)
        self.execute("b")
        #expect(self.rule.reservationCount == 0)
    }

    @Test mutating func `bursts that are executed before the next are admitted, also after an overload`()
        throws
    {
        self.crowd()
        _ = try self.waitOfRefusal("a")
        self.disperse()
        for _ in 0..<10 {
            self.now += 110 * Self.millisecond
            #expect(self.arrive("b") == .admit)
            self.execute("b")
            for _ in 0..<40 { #expect(self.arrive("b") == .admit) }
            for _ in 0..<40 { self.execute("b") }
        }
    }

    @Test mutating func `a slow disk is not a reason to refuse`() {
        for _ in 0..<200 { self.rule.synced(nanoseconds: 60 * Self.millisecond) }
        self.rule.entered(.init(of: nil, work: 1))
        self.execute(nil)
        for _ in 0..<70 { #expect(self.arrive("a") == .admit) }
        self.now += 200 * Self.millisecond
        #expect(self.arrive("a") == .admit)
        #expect(!self.rule.isCrowded)
    }

    @Test mutating func `one piece that takes long is no pace`() {
        let long = OverloadRule.Portion(of: nil, work: 1)
        self.rule.entered(long)
        self.rule.began(long)
        self.now += 3_000 * Self.millisecond
        self.rule.ended([long], nanoseconds: 3_000 * Self.millisecond, now: self.now)
        for _ in 0..<12 { #expect(self.arrive("a") == .admit) }
        self.now += 200 * Self.millisecond
        #expect(self.arrive("a") == .admit)
    }

    // MARK: Holders

    @Test mutating func `the flood of one is refused, and nobody else`() throws {
        for _ in 0..<400 { #expect(self.arrive("flood") == .admit) }
        self.now += 100 * Self.millisecond
        #expect(self.arrive("flood") != .admit)
        // Ten units are half of what may be ahead.
        for _ in 0..<10 { #expect(self.arrive("a") == .admit) }
        #expect(self.arrive("a") != .admit, "more than a fair part")
        #expect(self.arrive("b", work: 6) == .admit, "a third")
        #expect(self.arrive("b") != .admit)
        #expect(self.arrive("flood") != .admit)
        self.execute("a", requests: 10, work: 10)
        #expect(self.arrive("a", work: 6) == .admit)
    }

    @Test mutating func `what is executed counts to its holder`() {
        for _ in 0..<40 { #expect(self.arrive("flood") == .admit) }
        self.now += 100 * Self.millisecond
        let taken = OverloadRule.Portion(of: newcomer("flood").holder, requests: 40, work: 40)
        self.rule.began(taken)
        #expect(self.arrive("flood") != .admit)
        #expect(self.arrive("a") == .admit, "nothing waits but what is executed")
        self.rule.returned(taken)
        #expect(self.arrive("flood") != .admit)
    }

    @Test mutating func `whoever has nothing waiting is admitted, whatever a request of others takes`() throws
    {
        for _ in 0..<5 { #expect(self.arrive("flood", work: 1_000) == .admit) }
        self.now += 100 * Self.millisecond
        #expect(self.arrive("flood", work: 1_000) != .admit)
        for user in ["a", "b"] {
            #expect(self.arrive(user, work: 1_000) == .admit)
            #expect(self.arrive(user, work: 1_000) != .admit)
        }
        // As many holders as requests may always wait.
        #expect(self.arrive("c", work: 1_000) != .admit)
    }

    @Test mutating func `a bound in bytes leaves room for others`() {
        #expect(self.arrive("flood", bytes: 400) == .admit)
        #expect(self.arrive("flood", bytes: 100) == .admit)
        #expect(self.arrive("flood", bytes: 100) != .admit)
        #expect(self.arrive("a", bytes: 200) == .admit)
        #expect(self.arrive("a", bytes: 200) != .admit)
        #expect(self.arrive("b", bytes: 100) == .admit)
    }

    @Test mutating func `requests that end unexecuted say nothing of the pace`() {
        for _ in 0..<20 { #expect(self.arrive("a") == .admit) }
        let late = OverloadRule.Portion(of: newcomer("a").holder, requests: 20, work: 20)
        self.rule.began(late)
        self.rule.ended([late], nanoseconds: nil, now: self.now)
        for _ in 0..<40 { #expect(self.arrive("a") == .admit) }
        self.now += 100 * Self.millisecond
        #expect(self.arrive("a") != .admit)
    }

    private static let horizon: Int64 = 5_000_000_000
}

/// A request of a user.
func newcomer(_ user: String, mark: UInt64 = 0) -> Newcomer {
    Newcomer(.user(environment: 1, user), mark: mark)
}
