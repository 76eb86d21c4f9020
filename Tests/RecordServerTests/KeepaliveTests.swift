import NIOCore
import Testing

@testable import RecordServer

struct KeepaliveTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test func `silence for the idle time makes a ping, and ten more seconds of it the end`() {
        var keepalive = KeepaliveStateMachine(idleTimeout: .seconds(60), now: self.start)
        #expect(
            keepalive.timerFired(at: self.start + .seconds(60)) == .ping(until: self.start + .seconds(70))
        )
        #expect(keepalive.timerFired(at: self.start + .seconds(70)) == .close)
    }

    @Test func `a timer that fires early waits for the rest`() {
        var keepalive = KeepaliveStateMachine(idleTimeout: .seconds(60), now: self.start)
        let early = self.start + .seconds(60) - .nanoseconds(1)
        #expect(keepalive.timerFired(at: early) == .wait(until: self.start + .seconds(60)))
        _ = keepalive.timerFired(at: self.start + .seconds(60))
        let afterPing = self.start + .seconds(70) - .nanoseconds(1)
        #expect(keepalive.timerFired(at: afterPing) == .wait(until: self.start + .seconds(70)))
    }

    @Test func `anything heard starts the silence again`() {
        var keepalive = KeepaliveStateMachine(idleTimeout: .seconds(60), now: self.start)
        keepalive.heard(at: self.start + .seconds(59))
        #expect(
            keepalive.timerFired(at: self.start + .seconds(60)) == .wait(until: self.start + .seconds(119))
        )
    }

    @Test func `an answer to the ping ends the suspicion`() {
        var keepalive = KeepaliveStateMachine(idleTimeout: .seconds(60), now: self.start)
        _ = keepalive.timerFired(at: self.start + .seconds(60))
        keepalive.heard(at: self.start + .seconds(61))
        #expect(
            keepalive.timerFired(at: self.start + .seconds(70)) == .wait(until: self.start + .seconds(121))
        )
    }
}

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
