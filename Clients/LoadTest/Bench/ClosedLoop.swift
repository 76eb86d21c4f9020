import RecordClient
import RecordModel
import Synchronization
import WireProtocol

/// One connection that sends its next request when it has the response to the last.
///
/// It measures one request, or all requests for a zone's pages. The next one starts in the callback
/// of the last, because a task between them would be measured, too.
final class ClosedLoop: Sendable {
    /// Latencies of requests.
    struct Samples: Sendable {
        /// For requests that ended within the period or, if they are long, began in it.
        var latencies = LatencyHistogram()
        var requestsAll = 0

        mutating func add(_ other: Samples) {
            self.latencies.add(other.latencies)
            self.requestsAll += other.requestsAll
        }
    }

    private struct State {
        var requests: Requests
        var samples = Samples()
        var failure: (any Error)?
        var itemsSeen = 0
        var sent: ContinuousClock.Instant
        var finish: CheckedContinuation<Samples, any Error>?
    }

    private let client: RecordClient
    private let row: BenchRow
    private let period: Range<ContinuousClock.Instant>
    private let state: Mutex<State>

    init(client: RecordClient, requests: Requests, period: Range<ContinuousClock.Instant>) {
        self.client = client
        self.row = requests.row
        self.period = period
        self.state = Mutex(State(requests: requests, sent: period.lowerBound))
    }

    func run() async throws -> Samples {
        try await withCheckedThrowingContinuation { continuation in
            self.state.withLock { $0.finish = continuation }
            self.sendNext()
        }
    }

    private func sendNext() {
        self.state.withLock { state in
            state.itemsSeen = 0
            state.sent = .now
        }
        self.sendPart()
    }

    private func sendPart() {
        let operation = self.state.withLock { $0.requests.next() }
        self.client.start(
            operation,
            requestTimeout: .seconds(30),
            resourceTimeout: .seconds(60),
            items: { self.itemsArrived($0) },
            end: { self.ended($0) }
        )
    }

    private func itemsArrived(_ items: [Item]) {
        self.state.withLock { state in
            state.itemsSeen += items.count
            for item in items where !item.outcome.isWhatWasAskedFor {
                state.failure = state.failure ?? Self.unexpected(item.outcome)
            }
        }
    }

    private func ended(_ result: Result<End, ClientError>) {
        let now = ContinuousClock.now
        if case .success(let end) = result, self.state.withLock({ $0.requests.goesOn(after: end) }) {
            return self.sendPart()
        }
        let finish: CheckedContinuation<Samples, any Error>? = self.state.withLock { state in
            state.samples.requestsAll += 1
            if self.period.contains(self.row.isLong ? state.sent : now) {
                state.samples.latencies.record(now - state.sent)
            }
            state.failure = state.failure ?? self.fault(of: result, itemCount: state.itemsSeen)
            return state.failure != nil || now >= self.period.upperBound ? state.finish.take() : nil
        }
        guard let finish else { return self.sendNext() }
        let (samples, failure) = self.state.withLock { ($0.samples, $0.failure) }
        if let failure {
            finish.resume(throwing: failure)
        } else {
            finish.resume(returning: samples)
        }
    }

    private func fault(of result: Result<End, ClientError>, itemCount: Int) -> (any Error)? {
        switch result {
        case .failure(let error): return error
        case .success(let end):
            if let failure = end.failure { return failure }
            let isRight =
                itemCount == self.row.itemsPerAnswer && end.count == self.row.countPerAnswer
                && end.token.isEmpty != self.row.isFeed
            return isRight ? nil : Self.unexpected(itemCount: itemCount, count: end.count)
        }
    }

    /// The failure for a response that a measurement must not count.
    private static func unexpected(itemCount: Int, count: UInt64) -> LoadFailure {
        LoadFailure(
            .failed,
            "a response had \(itemCount) records and the count \(count), which the row does not expect: "
                + "was its data set prepared (--prepare)?"
        )
    }

    private static func unexpected(_ outcome: ItemOutcome) -> LoadFailure {
        if case .failure(let failure) = outcome {
            return LoadFailure(.refused(failure), to: "execute an item")
        }
        return LoadFailure(.failed, "a response had an item of another kind or size")
    }
}

extension ItemOutcome {
    fileprivate var isWhatWasAskedFor: Bool {
        switch self {
        case .recordSaved: true
        case .record(let message): message.byteCount > Dataset.bodyBytes
        case .failure, .deleted, .zone, .recordDeleted, .zoneChanged, .zoneDeleted, .subscription: false
        case .shareMetadata, .participant, .done, .explanation: false
        }
    }
}
