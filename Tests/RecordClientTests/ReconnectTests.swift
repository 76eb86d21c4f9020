import NIOCore
import Testing

@testable import RecordClient

/// Draws the lowest number with 2, the highest with the maximum. (0 is drawn again and again by the
/// standard library.)
private struct Extreme: RandomNumberGenerator {
    var value: UInt64
    mutating func next() -> UInt64 { self.value }
}

@Suite struct ReconnectTests {
    private let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func pauses(_ count: Int, drawing value: UInt64) -> [TimeAmount] {
        var reconnect = Reconnect(backoffMin: .milliseconds(50), backoffMax: .milliseconds(350))
        var generator = Extreme(value: value)
        return (0..<count).map { _ in
            reconnect.ended(hadAnswered: false, retryAfter: .zero, now: self.now, using: &generator)
            return reconnect.attemptAt(now: self.now) - self.now
        }
    }

    @Test func `the first attempt is made at once`() {
        let reconnect = Reconnect(backoffMin: .milliseconds(50), backoffMax: .seconds(1))
        #expect(reconnect.attemptAt(now: self.now) == self.now)
    }

    @Test func `the longest pause doubles up to the maximum`() {
        let expected: [TimeAmount] = [
            .milliseconds(100), .milliseconds(200), .milliseconds(350), .milliseconds(350),
        ]
        #expect(self.pauses(4, drawing: .max) == expected)
    }

    @Test func `the shortest pause stays the minimum`() {
        #expect(self.pauses(3, drawing: 2) == Array(repeating: .milliseconds(50), count: 3))
    }

    @Test(arguments: [UInt64(1), 7, 4711])
    func `a seeded pause lies within the bounds`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var reconnect = Reconnect(backoffMin: .milliseconds(50), backoffMax: .seconds(15))
        for failures in 1...40 {
            reconnect.ended(hadAnswered: false, retryAfter: .zero, now: self.now, using: &generator)
            let pause = reconnect.attemptAt(now: self.now) - self.now
            let ceiling = TimeAmount.milliseconds(min(15_000, 50 << min(failures, 20)))
            #expect(pause >= .milliseconds(50) && pause <= ceiling)
        }
    }

    @Test func `after a connection that had answered the next attempt is made at once`() {
        var generator = Extreme(value: .max)
        var reconnect = Reconnect(backoffMin: .milliseconds(50), backoffMax: .seconds(1))
        reconnect.ended(hadAnswered: false, retryAfter: .zero, now: self.now, using: &generator)
        reconnect.ended(hadAnswered: true, retryAfter: .zero, now: self.now, using: &generator)
        #expect(reconnect.attemptAt(now: self.now) == self.now)
        reconnect.ended(hadAnswered: false, retryAfter: .zero, now: self.now, using: &generator)
        #expect(reconnect.attemptAt(now: self.now) == self.now + .milliseconds(100))
    }

    @Test func `the server's wish comes before the pause`() {
        var generator = Extreme(value: 2)
        var reconnect = Reconnect(backoffMin: .milliseconds(50), backoffMax: .seconds(1))
        reconnect.ended(hadAnswered: true, retryAfter: .seconds(2), now: self.now, using: &generator)
        #expect(reconnect.attemptAt(now: self.now) == self.now + .seconds(2))
        reconnect.ended(hadAnswered: false, retryAfter: .seconds(2), now: self.now, using: &generator)
        #expect(reconnect.attemptAt(now: self.now) == self.now + .milliseconds(2_050))
    }

    @Test func `a pause that has passed while nobody asked is not waited for again`() {
        var generator = Extreme(value: .max)
        var reconnect = Reconnect(backoffMin: .milliseconds(50), backoffMax: .seconds(1))
        reconnect.ended(hadAnswered: false, retryAfter: .zero, now: self.now, using: &generator)
        let later = self.now + .seconds(5)
        #expect(reconnect.attemptAt(now: later) == later)
    }
}
