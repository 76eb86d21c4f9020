import Admission
import RecordModel
import TestSupport
import Testing

/// The rule with pieces of work that take a time once, as commits of a distant database do.
///
/// It is 30 ms, and 10 µs for a unit. 10 ms may be ahead.
struct FixedPartTests {
    private static let millisecond: Int64 = 1_000_000
    private static let save = 7

    private var rule: OverloadRule
    private var now: Int64 = 0

    init() { self.rule = Self.rule() }

    private static func rule(burst: OverloadRule.Settings.Burst? = nil) -> OverloadRule {
        var settings = OverloadRule.Settings(
            waitNanoseconds: 10 * self.millisecond,
            lanes: 1,
            requestsMin: 3
        )
        settings.pieceWork = 500
        settings.burst = burst
        return OverloadRule(settings)
    }

    private static func nanoseconds(_ work: Int) -> Int64 { 30 * self.millisecond + Int64(work) * 10_000 }

    /// Executes one piece of work.
    private mutating func execute(_ work: Int, in nanoseconds: Int64? = nil) {
        let time = nanoseconds ?? Self.nanoseconds(work)
        let portion = OverloadRule.Portion(of: nil, work: work)
        self.rule.entered(portion)
        self.rule.began(portion)
        self.now += time
        self.rule.ended([portion], nanoseconds: time, now: self.now)
    }

    /// The work of one user that may be ahead and stand there, asked for by single saves.
    private mutating func admitted(upTo most: Int) -> Int {
        var count = 0
        // Beyond the limit newcomers are admitted for 100 ms, in which no time passes here.
        while count * Self.save < most, !self.isOver { count += 1 }
        return count * Self.save
    }

    /// Whether one more save goes beyond the limit.
    private var isOver: Bool {
        mutating get {
            #expect(self.rule.arrived(newcomer("a"), work: Self.save, now: self.now) == .admit)
            return self.rule.mayRefuse
        }
    }

    @Test(arguments: [300, 3_000])
    mutating func `what each piece takes once is no work of the requests in it`(batch: Int) {
        for _ in 0..<20 { self.execute(Self.save) }
        for _ in 0..<20 {
            self.execute(batch * Self.save)
            self.execute(Self.save)
        }
        // 40 ms at 10 µs a unit.
        let most = self.admitted(upTo: 20_000)
        #expect(most > 2_000, "work of 20 ms")
        #expect(most < 8_000, "work of 80 ms")
    }

    @Test mutating func `pieces of one size that take long are not taken for free`() {
        for _ in 0..<100 { self.execute(3_500, in: 35 * Self.millisecond) }
        #expect((900...1_500).contains(self.admitted(upTo: 20_000)))
    }

    @Test mutating func `pieces of hardly different sizes do not have their noise for a pace`() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let work = Int.random(in: 2_800...3_200, using: &generator)
            let noise = Int64.random(in: -10...10, using: &generator)
            self.execute(work, in: (30 + noise) * Self.millisecond)
        }
        #expect((700...1_800).contains(self.admitted(upTo: 20_000)))
    }

    @Test mutating func `a burst that one piece takes is no overload, and more is`() {
        self.rule = Self.rule(burst: .init(work: 1_000, nanoseconds: 1_000 * Self.millisecond))
        for _ in 0..<100 { self.execute(Self.save, in: 5 * Self.millisecond) }
        #expect((994...1_008).contains(self.admitted(upTo: 20_000)))
        self.now += 100 * Self.millisecond
        #expect(self.rule.arrived(newcomer("a"), work: Self.save, now: self.now) != .admit)
    }

    @Test mutating func `a burst that would take too long is refused`() {
        self.rule = Self.rule(burst: .init(work: 1_000, nanoseconds: 1_000 * Self.millisecond))
        // Ten milliseconds a unit: a hundred units are a second.
        for _ in 0..<100 {
            self.execute(Self.save, in: 70 * Self.millisecond)
            self.execute(100, in: 1_000 * Self.millisecond)
        }
        #expect((70...200).contains(self.admitted(upTo: 20_000)))
        self.now += 100 * Self.millisecond
        #expect(self.rule.arrived(newcomer("a"), work: Self.save, now: self.now) != .admit)
    }

    @Test mutating func `a reservation is as long as its part of a piece`() throws {
        for _ in 0..<20 {
            self.execute(Self.save)
            self.execute(1_000)
        }
        while self.rule.reservationCount == 0 {
            let first = self.rule.arrived(newcomer("a", mark: 1), work: 350, now: self.now)
            if first == .admit { self.now += Self.millisecond }
        }
        let second = self.rule.arrived(newcomer("a", mark: 2), work: 350, now: self.now)
        guard case .refuse(let milliseconds) = second else {
            Issue.record("admitted")
            return
        }
        // 350 units of a piece of 500 are 25 ms, and twice that at half the pace; alone they take 33.
        #expect((130...170).contains(milliseconds))
    }
}
