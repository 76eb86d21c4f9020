import RecordClient
import RecordModel
import Synchronization

/// A connection that is notified of the saves of all workers of a user.
final class PushListener: Sendable {
    typealias Done = @Sendable (Result<ContinuousClock.Instant, MissedNotification>) -> Void

    private struct Expected {
        let done: Done
        var answeredAt: ContinuousClock.Instant?
        var notifiedAt: ContinuousClock.Instant?
    }

    private struct State {
        var expected: [String: Expected] = [:]
        var handle: ListenerHandle?
        var whenListening: CheckedContinuation<Void, Never>?
        var isListening = false
    }

    private let subscription: String
    private let state = Mutex(State())

    init(subscription: String) {
        self.subscription = subscription
    }

    /// Listens, and returns when the server has confirmed it.
    func listen(_ client: RecordClient) async {
        let handle = client.listen { self.received($0) }
        await withCheckedContinuation { continuation in
            let isListening = self.state.withLock { state in
                state.handle = handle
                if !state.isListening { state.whenListening = continuation }
                return state.isListening
            }
            if isListening { continuation.resume() }
        }
    }

    /// Announces a save of a record.
    ///
    /// `done` is called once, after both the response and the notification.
    func expect(_ recordName: String, done: @escaping Done) {
        self.state.withLock { $0.expected[recordName] = Expected(done: done) }
    }

    /// Notes the response to the save.
    ///
    /// A failed save has no notification.
    func answered(_ recordName: String, failure: String?) {
        self.change(recordName) { expected in
            if let failure { return .failure(MissedNotification(reason: failure, isViolation: false)) }
            expected.answeredAt = .now
            return expected.notifiedAt.map { .success($0) }
        }
    }

    /// Gives up on saves that were answered before this time without a notification.
    func expire(before time: ContinuousClock.Instant) {
        let late = self.state.withLock { state in
            let names = state.expected.filter { $0.value.answeredAt.map { $0 < time } ?? false }.keys
            return names.compactMap { state.expected.removeValue(forKey: $0) }
        }
        for expected in late {
            expected.done(.failure(MissedNotification(reason: "no notification", isViolation: true)))
        }
    }

    private func received(_ event: ListeningEvent) {
        let now = ContinuousClock.now
        switch event {
        case .began:
            self.state.withLock { state in
                state.isListening = true
                return state.whenListening.take()
            }?.resume()
        case .notification(let notification, let key):
            // The server keeps no more than 64 unacknowledged ones.
            self.state.withLock { $0.handle }?.acknowledge(key)
            guard notification.subscriptionID == self.subscription else { return }
            if case .query(let change?) = notification.event { self.notified(change.id.recordName, at: now) }
            if notification.isChangeHint { self.notifiedOfAll(at: now) }
        case .interrupted, .ended: break
        }
    }

    private func notified(_ recordName: String, at time: ContinuousClock.Instant) {
        self.change(recordName) { expected in
            expected.notifiedAt = expected.notifiedAt ?? time
            return expected.answeredAt == nil ? nil : .success(time)
        }
    }

    /// Some notifications were left out.
    ///
    /// A coalesced one stands for all of them.
    private func notifiedOfAll(at time: ContinuousClock.Instant) {
        for name in self.state.withLock({ Array($0.expected.keys) }) { self.notified(name, at: time) }
    }

    private func change(
        _ recordName: String,
        _ body: (inout Expected) -> Result<ContinuousClock.Instant, MissedNotification>?
    ) {
        let over: (Done, Result<ContinuousClock.Instant, MissedNotification>)? = self.state.withLock {
            state in
            guard var expected = state.expected[recordName] else { return nil }
            let result = body(&expected)
            state.expected[recordName] = result == nil ? expected : nil
            return result.map { (expected.done, $0) }
        }
        over.map { $0.0($0.1) }
    }
}

extension Notification {
    /// Whether it also stands for others that were not sent.
    var isChangeHint: Bool { self.isCoalesced || self.committedMilliseconds == 0 }
}
