import NIOCore
import RecordModel
import WireProtocol

/// The listener: `listen` is sent after each handshake, as long as there is one.
///
/// ```text
/// idle --listen--> waiting --connectionOpened--> asked --end--> listening
///                     ^                            |  refused     |
///                     |<-------- pause ------------+              |
///                     +<------------- the connection ends --------+
/// ```
extension ClientSession {
    /// The one listener of a client; several receivers share it.
    struct Listener {
        let number: UInt64
        let notify: @Sendable (ListeningEvent) -> Void
        /// The pauses between attempts on one connection, when `listen` is refused for now.
        var refusals: Reconnect
        var retry: Scheduled<Void>?
    }

    /// The request `listen` among those of the callers, with numbers from 1 on.
    static let listenNumber: UInt64 = 0

    func listen(_ number: UInt64, _ notify: @escaping @Sendable (ListeningEvent) -> Void) {
        if case .shutDown = self.link { return notify(.ended) }
        precondition(self.listener == nil, "a client has one listener")
        self.listener = Listener(
            number: number,
            notify: notify,
            refusals: Reconnect(
                backoffMin: TimeAmount(self.configuration.backoffMin),
                backoffMax: TimeAmount(self.configuration.backoffMax)
            )
        )
        self.askToListen()
    }

    func stopListening(_ number: UInt64) {
        guard let listener, listener.number == number else { return }
        listener.retry?.cancel()
        self.listener = nil
        _ = self.requests.remove(Self.listenNumber)
        if case .open(let link) = self.link, link.listens { link.connection.retire() }
    }

    func acknowledge(_ key: NotificationKey) {
        self.connection(key.connection)?.acknowledge(upTo: key.number)
    }

    /// Sends `listen`, if there is a connection and a listener.
    func askToListen() {
        guard self.listener != nil, case .open(let link) = self.link else { return }
        link.listens = true
        self.requests.add(
            PendingRequest(
                number: Self.listenNumber,
                operation: .listen,
                timeouts: .endless,
                receiver: .session,
                now: self.eventLoop.now
            )
        )
    }

    /// The response to `listen` arrived.
    func listenAnswered(_ end: End, on connection: Int) {
        guard let listener, case .open(let link) = self.link, link.connection.number == connection
        else { return }
        guard let failure = end.failure else {
            return listener.notify(.began(user: link.welcome.userRecordName))
        }
        let retryAfter: TimeAmount
        switch failure.retry {
        case .never, .afterChange: return listener.notify(.interrupted(.refused(failure), retryIn: nil))
        case .now: retryAfter = .zero
        case .after(let milliseconds):
            retryAfter =
                .milliseconds(Int64(min(milliseconds, ClientBounds.retryAfterMillisecondsMax)))
        }
        let now = self.eventLoop.now
        self.listener?.refusals.ended(
            hadAnswered: false,
            retryAfter: retryAfter,
            now: now,
            using: &self.random
        )
        let attemptAt = self.listener?.refusals.attemptAt(now: now) ?? now
        self.listener?.retry = self.eventLoop.assumeIsolated().scheduleTask(deadline: attemptAt) {
            self.askToListen()
            self.advance(now: self.eventLoop.now)
            self.flush()
        }
        listener.notify(.interrupted(.refused(failure), retryIn: Duration(attemptAt - now)))
    }

    func notificationReceived(_ notification: Notification, on connection: Int) {
        // Notifications of a connection that drains come again on the next one, as change hints.
        guard case .open(let link) = self.link, link.connection.number == connection else { return }
        let key = NotificationKey(connection: connection, number: notification.number)
        self.listener?.notify(.notification(notification, key))
    }

    /// The connection ended; `listen` is sent again on the next one.
    func listeningInterrupted(_ cause: ConnectionEnd, wasOpen: Bool, now: NIODeadline) {
        self.listener?.retry?.cancel()
        _ = self.requests.remove(Self.listenNumber)
        guard let listener else { return }
        let what = wasOpen ? "The connection to \(self.server) ended" : "Cannot connect to \(self.server)"
        let error =
            self.terminalError(of: cause)
            ?? .unreached(what, because: cause)
        let pause = self.reconnect.attemptAt(now: now) - now
        listener.notify(.interrupted(error, retryIn: Duration(pause)))
    }

    func listeningEnded() {
        guard let listener else { return }
        self.listener = nil
        listener.retry?.cancel()
        listener.notify(.ended)
    }
}
