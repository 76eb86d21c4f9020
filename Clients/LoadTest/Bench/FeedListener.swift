import RecordClient
import RecordModel
import Synchronization
import WireProtocol

/// A connection that listens to a zone, and fetches what it is told of, page by page.
///
/// It also fetches when it begins to listen, because it may have missed something before. A
/// notification that comes during a fetch leads to one more. So a listener that falls behind gets
/// many changes with one request.
final class FeedListener: Sendable {
    enum Event: Sendable {
        case records([Item])
        /// It has all changes that it was told of.
        case current
        case interrupted
        case failed(ClientError)
    }

    private struct State {
        var token: [UInt8]
        var isFetching = false
        /// Whether it was told of something since the fetch began.
        var isBehind = false
        /// The last notification, to be acknowledged after the fetch.
        var notification: NotificationKey?
        var handle: ListenerHandle?
    }

    private static let recordsPerPage: UInt32 = 200

    private let client: RecordClient
    private let zone: ZoneID
    private let tell: @Sendable (Event) -> Void
    private let state: Mutex<State>

    init(
        _ client: RecordClient,
        zone: ZoneID,
        after token: [UInt8],
        tell: @escaping @Sendable (Event) -> Void
    ) {
        self.client = client
        self.zone = zone
        self.tell = tell
        self.state = Mutex(State(token: token))
    }

    func start() {
        let handle = self.client.listen { event in
            switch event {
            case .began: self.fetchUnlessFetching(told: nil)
            case .notification(_, let key): self.fetchUnlessFetching(told: key)
            case .interrupted: self.tell(.interrupted)
            case .ended: break
            }
        }
        self.state.withLock { $0.handle = handle }
    }

    private func fetchUnlessFetching(told notification: NotificationKey?) {
        let begins = self.state.withLock { state in
            // Keys of earlier connections mean nothing after a new beginning.
            state.notification = notification
            defer { state.isFetching = true }
            if state.isFetching { state.isBehind = true }
            return !state.isFetching
        }
        if begins { self.fetchPage() }
    }

    private func fetchPage() {
        let token = self.state.withLock { state in
            state.isBehind = false
            return state.token
        }
        let page = FetchChanges(scope: .private, zone: self.zone, token: token, limit: Self.recordsPerPage)
        self.client.start(
            .fetchChanges(page),
            requestTimeout: .seconds(60),
            resourceTimeout: .seconds(120),
            items: { self.tell(.records($0)) },
            end: { self.ended($0) }
        )
    }

    private func ended(_ result: Result<End, ClientError>) {
        let end: End
        switch result {
        case .success(let success):
            if let failure = success.failure { return self.retry(.refused(failure)) }
            end = success
        case .failure(let error): return self.retry(error)
        }
        let (goesOn, acknowledgement) = self.state.withLock { state in
            state.token = end.token
            let goesOn = end.moreComing || state.isBehind
            state.isFetching = goesOn
            let known = state.notification.flatMap { key in state.handle.map { ($0, key) } }
            return (goesOn, goesOn ? nil : known)
        }
        if goesOn { return self.fetchPage() }
        acknowledgement.map { $0.acknowledge($1) }
        self.tell(.current)
    }

    /// Fetches again at the time that the server names, if it rejected the request under load.
    private func retry(_ error: ClientError) {
        guard let milliseconds = error.retryMilliseconds else { return self.tell(.failed(error)) }
        self.client.after(.milliseconds(milliseconds)) { self.fetchPage() }
    }
}
