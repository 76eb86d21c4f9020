private import Foundation
internal import RecordClient
private import RecordModel
private import Synchronization
private import WireProtocol

/// One listening connection for all iterators of the notifications of a container's session.
///
/// It listens while there is an iterator. A notification is acknowledged when each iterator that
/// existed when it came has acknowledged it, or is gone.
final class NotificationHub: Sendable {
    typealias Listen = @Sendable (@escaping @Sendable (ListeningEvent) -> Void) -> ListenerHandle

    private struct Consumer {
        var queue = ConsumerQueue()
        var waiting: CheckedContinuation<ArrivedNotification?, Never>?
        let statusChanged: (@Sendable (CKListeningStatus) -> Void)?

        /// Delivers a notification to the consumer if it waits, else keeps it for later.
        mutating func give(_ arrived: ArrivedNotification) -> Handover? {
            self.queue.append(arrived)
            return self.waiting.take().map { Handover(waiting: $0, arrived: self.queue.next()) }
        }
    }

    /// A notification for a consumer that waits.
    ///
    /// It is delivered after the lock is released. Resuming a task waits for a task that cancels
    /// it, and that one waits for the lock.
    private struct Handover {
        let waiting: CheckedContinuation<ArrivedNotification?, Never>
        let arrived: ArrivedNotification?

        func run() { self.waiting.resume(returning: self.arrived) }
    }

    private struct State {
        var consumers: [Int: Consumer] = [:]
        var lastConsumer = 0
        var listener: ListenerHandle?
        /// Counts the listeners: events of a listener that was stopped are ignored.
        var lastListener = 0
        /// The last notification of the connection; `nil` if there was none.
        var last: NotificationKey?
        /// The last acknowledged number of that connection.
        var acknowledged: UInt64 = 0
        /// `nil` before the first message of the server, or before the reason why there is none.
        var status: CKListeningStatus?
        var hasEnded = false
    }

    private let listen: Listen
    private let signIn: SignInResponse?
    private let state = Mutex(State())
    /// Callbacks of the user do not run on the connection's event loop.
    private let callbacks = CallbackQueue(name: "CKContainer.notifications")

    /// - Parameters:
    ///   - signIn: Stores the server's response to the token; `nil` if there is no token.
    ///   - listen: Starts to listen.
    init(signIn: SignInResponse?, listen: @escaping Listen) {
        self.signIn = signIn
        self.listen = listen
    }

    /// Adds a consumer of everything from now on, and of earlier summaries if it is the only one.
    ///
    /// - Returns: Its number.
    func join(_ statusChanged: (@Sendable (CKListeningStatus) -> Void)?) -> Int {
        self.state.withLock { state in
            state.lastConsumer += 1
            guard !state.hasEnded else { return state.lastConsumer }
            state.consumers[state.lastConsumer] = Consumer(statusChanged: statusChanged)
            if state.listener == nil {
                state.lastListener += 1
                state.listener = self.listen { [self, number = state.lastListener] event in
                    self.notify(event, as: number)
                }
            } else if let statusChanged, let status = state.status {
                self.callbacks.run { statusChanged(status) }
            }
            return state.lastConsumer
        }
    }

    /// Notes that the consumer has acknowledged its last notification.
    func took(_ number: Int) {
        self.state.withLock { state in
            state.consumers[number]?.queue.took()
            Self.acknowledge(&state)
        }
    }

    /// Delivers the consumer's next notification as soon as there is one; `nil` if it has left, or
    /// if the connection was closed for good.
    func next(_ number: Int, _ continuation: CheckedContinuation<ArrivedNotification?, Never>) {
        let handover: Handover? = self.state.withLock { state in
            guard var consumer = state.consumers[number] else {
                return Handover(waiting: continuation, arrived: nil)
            }
            defer { state.consumers[number] = consumer }
            if let next = consumer.queue.next() { return Handover(waiting: continuation, arrived: next) }
            precondition(consumer.waiting == nil, "an iterator is used by one task at a time")
            consumer.waiting = continuation
            return nil
        }
        handover?.run()
    }

    /// Removes a consumer; the last one that leaves ends the listening.
    func leave(_ number: Int) {
        let waiting = self.state.withLock { state -> CheckedContinuation<ArrivedNotification?, Never>? in
            guard let consumer = state.consumers.removeValue(forKey: number) else { return nil }
            guard state.consumers.isEmpty else {
                Self.acknowledge(&state)
                return consumer.waiting
            }
            state.listener?.stop()
            state.listener = nil
            state.last = nil
            state.status = nil
            return consumer.waiting
        }
        waiting?.resume(returning: nil)
    }

    private func notify(_ event: ListeningEvent, as listener: Int) {
        let handovers = self.state.withLock { state -> [Handover] in
            guard state.lastListener == listener, state.listener != nil else { return [] }
            switch event {
            case .began(let user):
                state.last = nil
                state.acknowledged = 0
                for number in state.consumers.keys { state.consumers[number]?.queue.connectionBegan() }
                self.note(.listening, isAccepted: !user.isEmpty, &state)
            case .notification(let notification, let key):
                state.last = key
                let arrived = ArrivedNotification(
                    key: key,
                    id: UUID().uuidString,
                    notification: notification
                )
                return state.consumers.keys.compactMap { state.consumers[$0]?.give(arrived) }
            case .interrupted(let error, let retryIn):
                let status = CKListeningStatus.interrupted(
                    CKError(error),
                    retryAfter: retryIn.map { $0 / .seconds(1) }
                )
                var isAccepted: Bool?
                if case .rejected(.notAuthenticated, _) = error { isAccepted = false }
                self.note(status, isAccepted: isAccepted, &state)
                if error.isOfRestriction, let signIn { self.callbacks.run { signIn.noteRestriction() } }
            case .ended:
                state.hasEnded = true
                state.listener = nil
                defer { state.consumers = [:] }
                return state.consumers.values.compactMap { consumer in
                    consumer.waiting.map { Handover(waiting: $0, arrived: nil) }
                }
            }
            return []
        }
        for handover in handovers { handover.run() }
    }

    private func note(_ status: CKListeningStatus, isAccepted: Bool?, _ state: inout State) {
        state.status = status
        let observers = state.consumers.values.compactMap(\.statusChanged)
        guard isAccepted != nil || !observers.isEmpty else { return }
        self.callbacks.run { [signIn] in
            if let isAccepted { signIn?.note(isAccepted: isAccepted) }
            for observer in observers { observer(status) }
        }
    }

    /// Acknowledges what all consumers have acknowledged.
    private static func acknowledge(_ state: inout State) {
        guard let last = state.last else { return }
        let outstanding = state.consumers.values.compactMap {
            $0.queue.firstOutstanding(of: last.connection)
        }.min()
        let upTo = outstanding.map { $0 - 1 } ?? last.number
        guard upTo > state.acknowledged else { return }
        state.acknowledged = upTo
        state.listener?.acknowledge(NotificationKey(connection: last.connection, number: upTo))
    }
}
