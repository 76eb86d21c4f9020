import NIOCore
import Testing
import Transport

struct KeepaliveTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test func `silence for the idle time makes a ping, and ten more seconds of it the end`() {
        var keepalive = KeepaliveStateMachine(silenceMax: .seconds(60), now: self.start)
        #expect(
            keepalive.timerFired(at: self.start + .seconds(60)) == .ping(until: self.start + .seconds(70))
        )
        #expect(keepalive.timerFired(at: self.start + .seconds(70)) == .close)
    }

    @Test func `a timer that fires early waits for the rest`() {
        var keepalive = KeepaliveStateMachine(silenceMax: .seconds(60), now: self.start)
        let early = self.start + .seconds(60) - .nanoseconds(1)
        #expect(keepalive.timerFired(at: early) == .wait(until: self.start + .seconds(60)))
        _ = keepalive.timerFired(at: self.start + .seconds(60))
        let afterPing = self.start + .seconds(70) - .nanoseconds(1)
        #expect(keepalive.timerFired(at: afterPing) == .wait(until: self.start + .seconds(70)))
    }

    @Test func `anything heard starts the silence again`() {
        var keepalive = KeepaliveStateMachine(silenceMax: .seconds(60), now: self.start)
        keepalive.received(at: self.start + .seconds(59))
        #expect(
            keepalive.timerFired(at: self.start + .seconds(60)) == .wait(until: self.start + .seconds(119))
        )
    }

    @Test func `an answer to the ping ends the suspicion`() {
        var keepalive = KeepaliveStateMachine(silenceMax: .seconds(60), now: self.start)
        _ = keepalive.timerFired(at: self.start + .seconds(60))
        keepalive.received(at: self.start + .seconds(61))
        #expect(
            keepalive.timerFired(at: self.start + .seconds(70)) == .wait(until: self.start + .seconds(121))
        )
    }

    @Test func `a pong is asked for by each ping, and no more than once`() {
        var keepalive = KeepaliveStateMachine(silenceMax: .seconds(60), now: self.start)
        #expect(keepalive.pongReceived() == false)
        _ = keepalive.timerFired(at: self.start + .seconds(60))
        #expect(keepalive.pongReceived() == true)
        #expect(keepalive.pongReceived() == false)
    }
}
