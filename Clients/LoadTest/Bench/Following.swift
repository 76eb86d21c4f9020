import RecordClient
import RecordModel
import Synchronization
import WireProtocol

/// Connections that follow a zone, each with a subscription of its own to all that changes there,
/// and one that saves.
///
/// A save of a run has a record of its own. The number in its name is that of the save, so the time
/// at which it was due can be computed from it.
final class Following: Sendable {
    static let zone = ZoneID(zoneName: "followed")
    /// The saves of a run.
    static let recordCount = 20_000

    static func save(_ number: Int) -> RecordSave {
        Items.save(RecordID(zone: self.zone, recordName: Items.ownName(number)))
    }

    /// The saves of a run: one after another at a rate.
    ///
    /// Those of the beginning do not count.
    struct Schedule: Hashable, Sendable {
        let rate: Double
        let warmUp: Double
        let duration: Double

        var count: Int { Int((self.rate * (self.warmUp + self.duration)).rounded()) }
        var uncounted: Int { Int((self.rate * self.warmUp).rounded()) }

        /// When a save is due, in seconds after the first one.
        func secondsUntil(_ number: Int) -> Double { Double(number) / self.rate }
    }

    struct Result: Sendable {
        /// From the time at which a save was due until a listener has the record.
        var latencies = LatencyHistogram()
        /// How many records of saves have not come to a listener in time.
        var missing = 0
    }

    /// The return of listeners after the end of their connections.
    struct Storm: Sendable {
        /// When the first connection ended; `nil` if none has.
        private(set) var start: ContinuousClock.Instant?
        /// From then until a listener is back with the record.
        private(set) var latencies = LatencyHistogram()
        private var away: Set<Int> = []
        private var informed: Set<Int> = []

        mutating func interrupted(_ listener: Int, at time: ContinuousClock.Instant) {
            self.start = self.start ?? time
            self.away.insert(listener)
        }

        /// Notes that a listener has the record, also from before its connection ended.
        mutating func informed(_ listener: Int) { self.informed.insert(listener) }

        /// Notes that a listener has all that it was told of.
        mutating func current(_ listener: Int, at time: ContinuousClock.Instant) {
            guard let start, self.away.contains(listener), self.informed.contains(listener) else { return }
            self.away.remove(listener)
            self.informed.remove(listener)
            self.latencies.record(time - start)
        }
    }

    private struct State {
        /// When the first save is due, and the schedule of all; `nil` before.
        var run: (start: ContinuousClock.Instant, schedule: Schedule)?
        var result = Result()
        var arrivals = 0
        /// The numbers of listeners that have begun, and are current.
        var current: Set<Int> = []
        var failure: (any Error)?
        var storm = Storm()
    }

    /// How long a run waits for the last records.
    private static let timeout = Duration.seconds(2)
    private static let stormPatience = Duration.seconds(300)

    private let writer: RecordClient
    private let clients: [RecordClient]
    private let state = Mutex(State())

    init(writer: RecordClient, listeners: [RecordClient]) {
        self.writer = writer
        self.clients = listeners
    }

    // MARK: Measurements

    /// Saves at a rate while all connections follow.
    func follow(_ schedule: Schedule) async throws -> Result {
        let listeners = try await self.begin { if case .records(let items) = $1 { self.arrived(items) } }
        let start = ContinuousClock.now + .milliseconds(50)
        self.state.withLock { $0.run = (start, schedule) }
        for number in 0..<schedule.count {
            try await Task.sleep(until: start + .seconds(schedule.secondsUntil(number)), clock: .continuous)
            self.save(number)
        }
        let expected = schedule.count * listeners.count
        let end = ContinuousClock.now + Self.timeout
        while self.state.withLock({ $0.arrivals }) < expected, .now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        return try self.state.withLock { state in
            if let failure = state.failure { throw failure }
            state.result.missing = expected - state.arrivals
            return state.result
        }
    }

    /// Measures how long it takes until each listener has what was saved after a restart of the
    /// server.
    ///
    /// The latencies count from the first connection that ends; then the save is made, at once or
    /// when the saving connection is back. A listener counts when its own connection has ended, it
    /// has the record, and it is current again.
    ///
    /// - Parameter isListening: Called when all listen, as a sign to restart the server.
    /// - Returns: The latencies of the listeners.
    /// - Throws: `LoadFailure` if a request fails for good, or not all are back in time.
    func survive(isListening: () -> Void) async throws -> LatencyHistogram {
        let listeners = try await self.begin { number, event in self.returned(number, event) }
        isListening()
        let end = ContinuousClock.now + Self.stormPatience
        var isSaved = false
        while self.state.withLock({ $0.storm.latencies.count }) < listeners.count {
            try await Task.sleep(for: .milliseconds(1))
            if !isSaved, self.state.withLock({ $0.storm.start }) != nil {
                isSaved = true
                self.save(0)
            }
            try self.throwFailure()
            guard .now < end else {
                throw LoadFailure(
                    .failed,
                    "after \(Self.stormPatience) not all listeners are current: restart the server once it says \"listening\""
                )
            }
        }
        return self.state.withLock { $0.storm.latencies }
    }

    private func returned(_ listener: Int, _ event: FeedListener.Event) {
        let now = ContinuousClock.now
        self.state.withLock { state in
            switch event {
            case .interrupted: state.storm.interrupted(listener, at: now)
            case .records(let items): if !items.isEmpty { state.storm.informed(listener) }
            case .current: state.storm.current(listener, at: now)
            case .failed: break
            }
        }
    }

    // MARK: Parts

    /// Saves the subscription, and returns when all connections listen and are current.
    private func begin(
        _ observe: @escaping @Sendable (_ listener: Int, FeedListener.Event) -> Void
    ) async throws -> [FeedListener] {
        let subscription = Subscription(id: "followed", kind: .zone(Self.zone, recordType: nil))
        let save = ModifySubscriptions(scope: .private, saves: [subscription])
        try await Dataset.perform(.modifySubscriptions(save), self.writer)
        let now = Operation.fetchToken(FetchToken(scope: .private, zone: Self.zone))
        let token = try await self.writer.end(of: now, timeout: .seconds(60)).token
        let listeners = self.clients.enumerated().map { number, client in
            FeedListener(client, zone: Self.zone, after: token) { event in
                switch event {
                case .current: self.state.withLock { _ = $0.current.insert(number) }
                case .failed(let error): self.note(error)
                case .records, .interrupted: break
                }
                observe(number, event)
            }
        }
        for listener in listeners { listener.start() }
        while self.state.withLock({ $0.current.count }) < listeners.count {
            try await Task.sleep(for: .milliseconds(5))
            try self.throwFailure()
        }
        return listeners
    }

    private func save(_ number: Int) {
        self.writer.start(
            Dataset.save([Self.save(number)]),
            requestTimeout: .seconds(120),
            resourceTimeout: .seconds(300),
            items: { items in
                for case .failure(let failure) in items.map(\.outcome) { self.notSaved(.refused(failure)) }
            },
            end: { if case .failure(let error) = $0 { self.notSaved(error) } }
        )
    }

    private func arrived(_ items: [Item]) {
        let now = ContinuousClock.now
        let numbers = items.compactMap { item -> Int? in
            guard case .record(let message) = item.outcome, let record = try? message.record() else {
                return nil
            }
            return Self.number(in: record.id.recordName)
        }
        self.state.withLock { state in
            guard let (start, schedule) = state.run else { return }
            state.arrivals += numbers.count
            for number in numbers where number >= schedule.uncounted {
                state.result.latencies.record(now - start - .seconds(schedule.secondsUntil(number)))
            }
        }
    }

    /// The number of the save in the name of its record.
    static func number(in name: String) -> Int? { Int(name.suffix(8)) }

    /// A save that was rejected under load is missing at each listener, and no fault.
    private func notSaved(_ error: ClientError) {
        if error.retryMilliseconds == nil { self.note(error) }
    }

    private func note(_ error: ClientError) {
        self.state.withLock { $0.failure = $0.failure ?? LoadFailure(error, to: "follow") }
    }

    private func throwFailure() throws {
        if let failure = self.state.withLock({ $0.failure }) { throw failure }
    }
}
