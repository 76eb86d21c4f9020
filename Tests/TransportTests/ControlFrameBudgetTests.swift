import NIOCore
import Testing
import Transport

struct ControlFrameBudgetTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test func `a thousand control frames in a second are taken and the next is not`() {
        var budget = ControlFrameBudget()
        for _ in 0..<1_000 { #expect(budget.received(at: self.start) == true) }
        let isTaken = budget.received(at: self.start + .milliseconds(999))
        #expect(!isTaken)
    }

    @Test func `a new second has a new budget`() {
        var budget = ControlFrameBudget()
        for _ in 0..<1_001 { _ = budget.received(at: self.start) }
        #expect(budget.received(at: self.start + .seconds(1)) == true)
    }
}

struct ControlFramePaceTests {
    private let start: Int64 = 1_000_000_000_000

    @Test func `an account has four thousand control frames at once, and four thousand a second`() {
        let pace = ControlFramePace()
        for _ in 0..<4_000 { #expect(pace.received(atNanoseconds: self.start)) }
        #expect(!pace.received(atNanoseconds: self.start))
        #expect(!pace.received(atNanoseconds: self.start + 249_999))
        #expect(pace.received(atNanoseconds: self.start + 250_000))
        #expect(!pace.received(atNanoseconds: self.start + 250_000))
    }

    @Test func `connections of an account share its frames`() {
        let pace = ControlFramePace()
        let now = NIODeadline.uptimeNanoseconds(UInt64(self.start))
        var budgets = (0..<100).map { _ in ControlFrameBudget(pace: pace) }
        var taken = 0
        for index in budgets.indices {
            for _ in 0..<900 where budgets[index].received(at: now) { taken += 1 }
        }
        #expect(taken == ControlFramePace.framesPerSecondMax)
    }
}
