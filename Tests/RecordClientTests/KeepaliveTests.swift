import NIOCore
import Testing

@testable import RecordClient

@Suite struct KeepaliveTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test
    func `a silent server is pinged after two thirds of the idle timeout, and given up ten seconds later`() {
        var keepalive = Keepalive(idleTimeout: .seconds(60), now: self.start)
        let pingAt = self.start + .seconds(40)
        #expect(keepalive.step(now: pingAt - .nanoseconds(1)) == .wait(until: pingAt))
        #expect(keepalive.step(now: pingAt) == .ping)
        let giveUpAt = pingAt + .seconds(10)
        #expect(keepalive.step(now: giveUpAt - .nanoseconds(1)) == .wait(until: giveUpAt))
        #expect(keepalive.step(now: giveUpAt) == .giveUp)
    }

    @Test func `anything that arrives starts the wait again`() {
        var keepalive = Keepalive(idleTimeout: .seconds(60), now: self.start)
        #expect(keepalive.step(now: self.start + .seconds(40)) == .ping)
        keepalive.heard(now: self.start + .seconds(41))
        #expect(
            keepalive.step(now: self.start + .seconds(50)) == .wait(until: self.start + .seconds(81))
        )
    }
}
