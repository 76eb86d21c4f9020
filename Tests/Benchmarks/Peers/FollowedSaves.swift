import ArgumentParser
import Synchronization

/// The saves of a run at a rate, as `tidemark-load bench follow-rate` makes them, and the time until
/// each has come to each follower.
final class FollowedSaves: Sendable {
    struct Options: ParsableArguments {
        @Option var port: Int
        @Option(help: "Connections that follow.") var connections = 1
        @Option(help: "Saves per second.") var rate: Double
        @Option(help: "Length of the measurement.") var seconds = 3.0
        @Option(help: "Time before it that does not count.") var warmUpSeconds = 0.3
    }

    struct Report: Encodable {
        /// From the time at which a save was due until a follower has the record.
        var p50Milliseconds: Double
        var p99Milliseconds: Double
        /// Records that did not come to a follower.
        var missing: Int
    }

    private struct State {
        var start: ContinuousClock.Instant?
        var arrivals = 0
        var microseconds: [Int64] = []
        var fault: PeerFault?
    }

    private static let timeout = Duration.seconds(2)

    private let options: Options
    private let state = Mutex(State())

    init(_ options: Options) { self.options = options }

    /// Makes the saves, and waits a while for the last ones.
    func run(save: (Int) -> Void) async throws -> Report {
        let count = Int((self.options.rate * (self.options.warmUpSeconds + self.options.seconds)).rounded())
        let start = ContinuousClock.now + .milliseconds(50)
        self.state.withLock { $0.start = start }
        for number in 0..<count {
            try await Task.sleep(until: start + self.due(number), clock: .continuous)
            save(number)
        }
        let expected = count * self.options.connections
        let end = ContinuousClock.now + Self.timeout
        while self.state.withLock({ $0.arrivals < expected && $0.fault == nil }), .now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        let (latencies, arrivals) = self.state.withLock { ($0.microseconds.sorted(), $0.arrivals) }
        func percentile(_ percent: Int) -> Double {
            latencies.isEmpty ? 0 : Double(latencies[(latencies.count - 1) * percent / 100]) / 1_000
        }
        return Report(
            p50Milliseconds: percentile(50),
            p99Milliseconds: percentile(99),
            missing: expected - arrivals
        )
    }

    /// Notes records that came to one follower.
    func arrived(_ numbers: [Int]) {
        let now = ContinuousClock.now
        let uncounted = Int((self.options.rate * self.options.warmUpSeconds).rounded())
        self.state.withLock { state in
            guard let start = state.start else { return }
            state.arrivals += numbers.count
            for number in numbers where number >= uncounted {
                let latency = now - start - self.due(number)
                state.microseconds.append(Int64(latency / .microseconds(1)))
            }
        }
    }

    /// Ends the wait: what has not come will not.
    func failed(_ fault: PeerFault) { self.state.withLock { $0.fault = $0.fault ?? fault } }

    private func due(_ number: Int) -> Duration { .seconds(Double(number) / self.options.rate) }
}
