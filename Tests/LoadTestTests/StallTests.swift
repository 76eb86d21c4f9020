import Testing

@testable import tidemark_load

/// Times in which a connection had no success.
@Suite
struct StallTests {
    private static let start = ContinuousClock.now

    private static func at(_ seconds: Double) -> ContinuousClock.Instant { self.start + .seconds(seconds) }

    @Test
    func `a wait begins when the first request is due, and lasts over failures until one succeeds`() {
        var waiting = Waiting()
        waiting.due(at: Self.at(1))
        // The first ones fail, and the next ones are due.
        waiting.due(at: Self.at(2))
        waiting.due(at: Self.at(3))
        #expect(waiting.succeeded(at: Self.at(4), hasMore: true) == Self.at(1))
        #expect(waiting.succeeded(at: Self.at(6), hasMore: false) == Self.at(4))
        // Nobody waits while nothing is due.
        #expect(waiting.succeeded(at: Self.at(7), hasMore: false) == nil)
        waiting.due(at: Self.at(9))
        #expect(waiting.succeeded(at: Self.at(10), hasMore: false) == Self.at(9))
    }

    @Test
    func `stalls of a second and more within the measured time are kept`() {
        let recorder = Recorder(period: Self.at(0)..<Self.at(10))
        recorder.waited(from: Self.at(-1), to: Self.at(1))
        recorder.waited(from: Self.at(1), to: Self.at(1.9))
        recorder.waited(from: Self.at(2), to: Self.at(5))
        // It ends behind the measured time.
        recorder.waited(from: Self.at(9), to: Self.at(12))
        let stalls = recorder.close().stalls
        #expect(stalls.map { ($0.startSeconds * 10).rounded() } == [20, 90])
        #expect(stalls.map { ($0.seconds * 10).rounded() } == [30, 30])
    }

    @Test
    func `each run of the chaos command has the longest stall that began after it`() {
        let stalls = [
            Stall(startSeconds: 9.5, seconds: 2), Stall(startSeconds: 11, seconds: 3.5),
            // Another connection's, over the next run.
            Stall(startSeconds: 18, seconds: 2.5), Stall(startSeconds: 31, seconds: 1.5),
        ]
        #expect(stalls.longest(after: [10, 20, 30]) == [3.5, 0, 1.5])
        #expect(stalls.longest(after: []) == [])
        #expect([Stall]().longest(after: [10]) == [0])
    }
}
