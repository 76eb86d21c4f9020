import RecordClient
import RecordModel
import Synchronization
import WireProtocol

/// The reading part of a device: it listens, and fetches changes after a notification.
final class Device: Sendable {
    private struct State {
        var token: [UInt8] = []
        var seen: [String: UInt64] = [:]
        var isFetching = false
        /// Whether the fetch begins again later, as the server asked for.
        var isPaused = false
        /// Whether a notification has come since the fetch began.
        var isBehind = false
        /// The last notification, to be acknowledged after the fetch.
        var lastNotification: NotificationKey?
        /// The acknowledged versions when the fetch began.
        var due: [String: UInt64] = [:]
        /// The names in the current fetch.
        ///
        /// Each may come once.
        var names: Set<String> = []
        var handle: ListenerHandle?
        var whenListening: CheckedContinuation<Void, Never>?
        var isListening = false
        var isStopped = false
    }

    private let number: Int
    private let worker: Worker
    private let state = Mutex(State())

    init(_ worker: Worker) {
        self.number = worker.number
        self.worker = worker
    }

    /// Listens from a position in the feed on.
    ///
    /// Returns when the server has confirmed it.
    func listen(from token: [UInt8]) async {
        self.state.withLock { $0.token = token }
        self.worker.userDevices.join(self.number)
        let handle = self.worker.client.listen { self.notified($0) }
        await withCheckedContinuation { continuation in
            let isListening = self.state.withLock { state in
                state.handle = handle
                if !state.isListening { state.whenListening = continuation }
                return state.isListening
            }
            if isListening { continuation.resume() }
        }
    }

    /// Fetches again after a pause, if there is one.
    func goOn() {
        let begins = self.state.withLock { state in
            defer { state.isPaused = false }
            return state.isPaused && !state.isStopped
        }
        if begins { self.fetch() }
    }

    /// Stops fetching.
    func stop() { self.state.withLock { $0.isStopped = true } }

    private func notified(_ event: ListeningEvent) {
        switch event {
        case .began:
            self.state.withLock { state in
                state.isListening = true
                state.lastNotification = nil
                return state.whenListening.take()
            }?.resume()
        case .notification(let notification, let key):
            let begins = self.state.withLock { state in
                state.lastNotification = key
                guard !state.isStopped,
                    notification.subscriptionID == self.worker.settings.layout.syncSubscription
                else { return false }
                if state.isFetching { state.isBehind = true }
                return !state.isFetching
            }
            if begins { self.fetch() } else { self.acknowledgeIfIdle() }
        case .interrupted, .ended: break
        }
    }

    private func acknowledgeIfIdle() {
        let acknowledgement = self.state.withLock { state in
            state.isFetching ? nil : state.lastNotification.flatMap { key in state.handle.map { ($0, key) } }
        }
        acknowledgement.map { $0.0.acknowledge($0.1) }
    }

    // MARK: Fetching

    private func fetch() {
        let acknowledged = self.worker.userDevices.acknowledged
        self.state.withLock { state in
            state.isFetching = true
            state.isBehind = false
            state.due = acknowledged
            state.names = []
        }
        self.fetchPage()
    }

    private func fetchPage() {
        let token = self.state.withLock { $0.token }
        let settings = self.worker.settings
        let page = FetchChanges(
            scope: .private,
            zone: settings.layout.syncZone,
            token: token,
            limit: UInt32(settings.page)
        )
        self.worker.client.start(
            .fetchChanges(page),
            requestTimeout: settings.timeout,
            resourceTimeout: settings.timeout,
            items: { self.received($0) },
            end: { self.ended($0) }
        )
    }

    private func received(_ items: [Item]) {
        let now = ContinuousClock.now
        for item in items {
            guard case .record(let message) = item.outcome, let record = try? message.record() else {
                continue
            }
            let name = record.id.recordName
            guard let version = Contents(record.body)?.version else { continue }
            let (earlier, isNew) = self.state.withLock { state in
                let earlier = state.seen[name] ?? 0
                state.seen[name] = max(earlier, version)
                return (earlier, state.names.insert(name).inserted || version > earlier)
            }
            if version < earlier { self.note(.stale, name, Violation.text(earlier), Violation.text(version)) }
            if !isNew { self.note(.doubled, name, "once", "twice") }
            self.worker.userDevices.seen(name, version: version, by: self.number, at: now)
        }
    }

    private func ended(_ result: Result<End, ClientError>) {
        switch result {
        case .success(let end):
            self.state.withLock { $0.token = end.token }
            if end.moreComing { return self.fetchPage() }
            let (missing, again) = self.state.withLock { state in
                let missing = state.due.filter { state.seen[$0.key] ?? 0 < $0.value }
                state.isFetching = false
                return (missing.map { ($0.key, $0.value, state.seen[$0.key] ?? 0) }, state.isBehind)
            }
            for (name, due, seen) in missing {
                self.note(.stale, name, Violation.text(due), Violation.text(seen))
            }
            if again { self.fetch() } else { self.acknowledgeIfIdle() }
        case .failure(let error):
            // The device is still behind, whatever failed.
            let goesOn = self.state.withLock { state in
                // The store is away, or the server has too much to do: not at once.
                state.isPaused = error.retryMilliseconds != nil
                guard !state.isPaused else { return false }
                state.isFetching = false
                if case .refused(let failure) = error, failure.code == .changeTokenExpired {
                    state.token = []
                }
                return !state.isStopped
            }
            if goesOn { self.fetch() }
        }
    }

    private func note(_ kind: Violation.Kind, _ name: String, _ expected: String, _ found: String) {
        self.worker.note(
            Violation(
                kind: kind,
                zone: self.worker.settings.layout.syncZone.zoneName,
                recordName: name,
                expected: expected,
                found: found,
                reading: "device \(self.number)"
            )
        )
    }
}
