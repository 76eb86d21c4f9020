import RecordClient
import RecordModel
import Synchronization
import WireProtocol

/// Connections that listen to one subscription, and one that saves a record of it.
///
/// Records from before they listened do not count, nor do notifications of them.
final class Listening: Sendable {
    static let zone = ZoneID(zoneName: "watched")
    static let save = Items.save(RecordID(zone: zone, recordName: "watched"))
    /// Saves that are in flight to all listeners at once.
    ///
    /// A listener may have 64 unacknowledged notifications.
    private static let savesUnderWay = 8
    private static let notificationsPerAcknowledgement: UInt64 = 16

    private let writer: RecordClient
    private let listeners: [RecordClient]
    private let handles = Mutex<[ListenerHandle]>([])
    private let deliveries = Atomic<Int>(0)
    private let fault = Mutex<(any Error)?>(nil)
    private let arrivals: AsyncStream<ContinuousClock.Instant>
    private let arrived: AsyncStream<ContinuousClock.Instant>.Continuation
    private let goesOn = Atomic<Bool>(true)
    private let lastSize = Atomic<Int>(0)

    init(writer: RecordClient, listeners: [RecordClient]) {
        self.writer = writer
        self.listeners = listeners
        (self.arrivals, self.arrived) = AsyncStream<ContinuousClock.Instant>.makeStream()
    }

    // MARK: Measurements

    /// Measures the time from the start of a save to its notification, and to its own response.
    ///
    /// One save at a time, with pauses of 10 to 30 ms.
    func latencies(
        for length: Duration,
        seed: UInt64
    ) async throws -> (arrivals: LatencyHistogram, answers: LatencyHistogram) {
        try await self.begin { self.arrived.yield(.now) }
        var generator = SplitMix64(seed: seed)
        var arrivals = self.arrivals.makeAsyncIterator()
        var result = (arrivals: LatencyHistogram(), answers: LatencyHistogram())
        let end = ContinuousClock.now + length
        while ContinuousClock.now < end {
            let sent = ContinuousClock.now
            try await Dataset.perform(Dataset.save([Self.save]), self.writer)
            result.answers.record(.now - sent)
            guard let arrival = await arrivals.next(isolation: nil) else { break }
            result.arrivals.record(arrival - sent)
            try await Task.sleep(for: .milliseconds(Int.random(in: 10...30, using: &generator)))
        }
        try self.throwFault()
        return result
    }

    /// The number of notifications that arrive at all listeners together.
    func deliveries(after warmUp: Duration, for length: Duration) async throws -> Int {
        let count = self.listeners.count
        try await self.begin {
            if self.deliveries.add(1, ordering: .relaxed).newValue.isMultiple(of: count) { self.saveNext() }
        }
        for _ in 0..<Self.savesUnderWay { self.saveNext() }
        try await Task.sleep(for: warmUp)
        let before = self.deliveries.load(ordering: .relaxed)
        try await Task.sleep(for: length)
        let after = self.deliveries.load(ordering: .relaxed)
        self.goesOn.store(false, ordering: .relaxed)
        try self.throwFault()
        return after - before
    }

    /// Listens while nothing happens.
    func idle(for length: Duration) async throws {
        try await self.begin {}
        try await Task.sleep(for: length)
        try self.throwFault()
    }

    /// Size of the last new notification.
    var frameBytes: Int { self.lastSize.load(ordering: .relaxed) }

    private func saveNext() {
        guard self.goesOn.load(ordering: .relaxed) else { return }
        self.writer.start(
            Dataset.save([Self.save]),
            requestTimeout: .seconds(30),
            resourceTimeout: .seconds(60),
            items: { _ in },
            end: { if case .failure(let error) = $0 { self.note(error) } }
        )
    }

    // MARK: Listening

    /// Saves the subscription, and returns when all connections listen.
    private func begin(_ delivered: @escaping @Sendable () -> Void) async throws {
        let subscription = Subscription(
            id: "watched",
            kind: .query(
                recordType: "Item",
                predicate: .all,
                zone: Self.zone,
                firesOn: [.creation, .update]
            )
        )
        let save = ModifySubscriptions(scope: .private, saves: [subscription])
        try await Dataset.perform(.modifySubscriptions(save), self.writer)
        let (begun, began) = AsyncStream<Void>.makeStream()
        for (number, client) in self.listeners.enumerated() {
            let handle = client.listen { event in
                switch event {
                case .began: began.yield()
                case .notification(let notification, let key):
                    self.received(notification, key, by: number, delivered)
                case .interrupted(let error, _): self.note(LoadFailure(error, to: "listen"))
                case .ended: break
                }
            }
            self.handles.withLock { $0.append(handle) }
        }
        var waiting = self.listeners.count
        for await _ in begun {
            waiting -= 1
            if waiting == 0 { break }
        }
        try self.throwFault()
    }

    private func received(
        _ notification: Notification,
        _ key: NotificationKey,
        by number: Int,
        _ delivered: @Sendable () -> Void
    ) {
        let isChangeHint = notification.committedMilliseconds > 0
        if isChangeHint, notification.isCoalesced {
            self.note(LoadFailure(.failed, "the listeners did not keep up: some notifications were left out"))
        }
        if isChangeHint { delivered() }
        if isChangeHint, number == 0 {
            self.lastSize.store(
                Frame.headerBytes + notification.byteCount,
                ordering: .relaxed
            )
        }
        if !isChangeHint || key.number.isMultiple(of: Self.notificationsPerAcknowledgement) {
            self.handles.withLock { $0.indices.contains(number) ? $0[number] : nil }?.acknowledge(key)
        }
    }

    private func note(_ error: any Error) {
        guard self.goesOn.load(ordering: .relaxed) else { return }
        self.fault.withLock { $0 = $0 ?? error }
        self.arrived.finish()
    }

    private func throwFault() throws {
        if let fault = self.fault.withLock({ $0 }) { throw fault }
    }
}
