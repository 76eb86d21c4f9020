import EngineThreads
import Foundation
import TestSupport
import Testing

/// Waiting by the clock that only goes forward.
struct ThreadConditionTests {
    @Test func `a wait ends at its moment, and one whose moment has passed at once`() {
        let condition = ThreadCondition()
        let start = MonotonicTime.nanoseconds()
        condition.withLock {
            #expect(!condition.wait(until: 0))
            #expect(!condition.wait(until: .min))
            while condition.wait(until: start + 20_000_000) {}
        }
        #expect(MonotonicTime.nanoseconds() >= start + 20_000_000)
    }

    @Test func `a signal ends a wait that has no end of its own`() {
        let condition = ThreadCondition()
        let waits = Gate()
        EngineThread.start("waker") {
            waits.wait()
            condition.withLock { condition.signal() }
        }
        condition.withLock {
            waits.open()
            _ = condition.wait(until: .max)
        }
    }

    @Test func `no time that a clock gives is too long to be waited for`() {
        for milliseconds in [Int64.min, -1, 0] {
            #expect(MonotonicTime.nanoseconds(ofMilliseconds: milliseconds) == 0)
        }
        #expect(MonotonicTime.nanoseconds(ofMilliseconds: 5) == 5_000_000)
        let longest = MonotonicTime.nanoseconds(ofMilliseconds: .max)
        #expect(longest > 0 && MonotonicTime.nanoseconds() + longest > longest)
    }
}
