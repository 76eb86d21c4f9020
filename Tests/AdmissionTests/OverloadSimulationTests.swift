import Admission
import RecordModel
import TestSupport
import Testing

/// Users who ask for more than can be done, at random, and somebody who executes: what holds
/// whatever they do.
@Suite(.timeLimit(.minutes(10)))
struct OverloadSimulationTests {
    @Test(arguments: [0.7, 1.5, 3, 6])
    func `reservations are kept, work is bounded, and after the load nobody is refused`(load: Double) {
        var generator = SeededGenerator.fromEnvironment()
        print("overload simulation: SEED=\(generator.seed)")
        var simulation = Simulation(load: load, seed: generator.next())
        simulation.run(seconds: 3)

        #expect(simulation.broken == 0, "somebody came in time and was refused")
        #expect(simulation.longerForEarly == 0, "somebody came early and was told a later time")
        #expect(simulation.reservationsMost <= 65_536)
        // What may be ahead, and those who come with a reservation at a bad moment.
        #expect(simulation.aheadMost <= 100_000_000 + Simulation.burst(load))
        #expect(simulation.executed >= Int64(Double(Simulation.second) * min(load, 1) * 2.2))
        if load > 1 {
            // While a third of all is the flood of one, hardly anybody else is refused at one and a
            // half times the pace.
            #expect(simulation.kept > (load > 2 ? 300 : 30))
            #expect(simulation.refused > 1_000)
        }
        simulation.stopLoad()
        #expect(simulation.refusedAfterwards == 0)
    }
}

/// A writer that executes a unit in 20 µs, 50,000 a second, and users with requests of 7 units, now
/// and then of 450.
///
/// The flooding user's retries are not checked: another of their requests may have taken the
/// reservation.
private struct Simulation {
    static let second: Int64 = 50_000
    private static let unit: Int64 = 20_000
    private static let step: Int64 = 1_000_000

    private struct Retry {
        let at: Int64
        let user: Int
        let mark: UInt64
        let work: Int
        /// Comes after its time, within the grace: it has to be admitted.
        let isInTime: Bool
        /// The moment it was told.
        let told: Int64
    }

    private var rule = OverloadRule(
        .init(waitNanoseconds: 10_000_000, lanes: 1, requestsMin: 24)
    )
    private var generator: SeededGenerator
    private let load: Double
    private var now: Int64 = 0
    private var waiting: [OverloadRule.Portion] = []
    private var first = 0
    private var ahead = 0
    private var retries: [Int64: [Retry]] = [:]
    private var owed = 0.0
    private var mark: UInt64 = 0
    private(set) var executed: Int64 = 0
    private(set) var refused = 0
    private(set) var kept = 0
    private(set) var broken = 0
    private(set) var longerForEarly = 0
    private(set) var reservationsMost = 0
    private(set) var aheadMost: Int64 = 0
    private(set) var refusedAfterwards = 0

    init(load: Double, seed: UInt64) {
        self.load = load
        self.generator = SeededGenerator(seed: seed)
    }

    /// Nanoseconds for those who were admitted in the 100 ms before the rule knew of an overload.
    static func burst(_ load: Double) -> Int64 { Int64(max(0, load - 1) * 200_000_000) }

    mutating func run(seconds: Int64) {
        let end = self.now + seconds * 1_000_000_000
        while self.now < end {
            self.arrivals()
            self.oneStep()
        }
    }

    /// One request every ten milliseconds from now on, after a second.
    mutating func stopLoad() {
        let end = self.now + 3_000_000_000
        let calm = self.now + 1_000_000_000
        self.retries = [:]
        while self.now < end {
            if self.now % (10 * Self.step) == 0 {
                let decision = self.ask(user: 1, mark: 0, work: 7)
                if decision != .admit, self.now >= calm { self.refusedAfterwards += 1 }
            }
            self.oneStep()
        }
    }

    private mutating func oneStep() {
        for retry in self.retries.removeValue(forKey: self.now) ?? [] { self.comesBack(retry) }
        self.now += Self.step
        var room = Self.step / Self.unit
        var taken: [OverloadRule.Portion] = []
        var work = 0
        while self.first < self.waiting.count, room > 0 {
            let next = self.waiting[self.first]
            self.first += 1
            taken.append(next)
            work += next.work
            room -= Int64(next.work)
        }
        guard !taken.isEmpty else { return }
        // A large one takes several steps at once.
        let time = max(Int64(work) * Self.unit, 1)
        for portion in taken { self.rule.began(portion) }
        self.now += max(0, (time - Self.step) / Self.step * Self.step)
        self.rule.ended(taken, nanoseconds: time, now: self.now)
        self.executed += Int64(work)
        self.ahead -= work
        if self.first > 10_000 {
            self.waiting.removeFirst(self.first)
            self.first = 0
        }
    }

    private mutating func arrivals() {
        self.owed += self.load * Double(Self.step / Self.unit)
        while self.owed > 0 {
            let work = self.generator.next() % 200 == 0 ? 450 : 7
            self.owed -= Double(work)
            self.mark += 1
            // One user makes a third of all requests; each of the others has one at a time.
            let isFlood = self.generator.next() % 3 == 0
            let user = isFlood ? 0 : Int(self.mark)
            self.comes(user: user, mark: self.mark, work: work)
        }
    }

    private mutating func ask(user: Int, mark: UInt64, work: Int) -> OverloadRule.OnArrival {
        let decision = self.rule.arrived(
            newcomer("\(user)", mark: mark),
            work: work,
            now: self.now
        )
        self.reservationsMost = max(self.reservationsMost, self.rule.reservationCount)
        if decision == .admit {
            self.waiting.append(.init(of: newcomer("\(user)").holder, work: work))
            self.ahead += work
            self.aheadMost = max(self.aheadMost, Int64(self.ahead) * Self.unit)
        } else {
            self.refused += 1
        }
        return decision
    }

    private mutating func comes(user: Int, mark: UInt64, work: Int) {
        guard case .refuse(let milliseconds) = self.ask(user: user, mark: mark, work: work) else { return }
        self.plan(milliseconds, user: user, mark: mark, work: work)
    }

    /// Half come in time, some too early, some within the grace, some never.
    private mutating func plan(_ milliseconds: UInt32, user: Int, mark: UInt64, work: Int) {
        guard milliseconds <= OverloadRule.retryMillisecondsMax else { return }
        let told = self.now + Int64(milliseconds) * 1_000_000
        let at: Int64
        switch self.generator.next() % 10 {
        case 0: return
        case 1, 2: at = self.now + Int64(milliseconds / 2) * 1_000_000
        case 3, 4: at = told + Int64(self.generator.next() % 1_900) * 1_000_000
        default: at = told
        }
        // The steps of a large request may pass over a moment: to the next that will be looked at.
        let retry = Retry(
            at: at,
            user: user,
            mark: mark,
            work: work,
            isInTime: at >= told,
            told: told
        )
        self.retries[max(at, self.now + Self.step), default: []].append(retry)
    }

    private mutating func comesBack(_ retry: Retry) {
        switch self.ask(user: retry.user, mark: retry.mark, work: retry.work) {
        case .admit:
            if retry.isInTime, retry.user != 0 { self.kept += 1 }
        case .refuse(let milliseconds):
            let told = self.now + Int64(milliseconds) * 1_000_000
            if retry.user == 0 { return }
            if retry.isInTime {
                self.broken += 1
            } else {
                if told > retry.told { self.longerForEarly += 1 }
                self.retries[told, default: []].append(
                    Retry(
                        at: told,
                        user: retry.user,
                        mark: retry.mark,
                        work: retry.work,
                        isInTime: true,
                        told: told
                    )
                )
            }
        }
    }
}
