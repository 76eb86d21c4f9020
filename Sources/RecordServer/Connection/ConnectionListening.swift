import NIOCore
import RecordStore
import StorageContract
import Transport
import WireProtocol

/// A connection that listens: turns the router's posts into frames, and passes acknowledgements to
/// the store.
final class ConnectionListening {
    /// Output beyond this is flushed before the end of a tick.
    private static let flushedBytes = 64 * 1_024

    private let connection: Connection
    private let server: ServerContext
    private let responses: ConnectionResponses
    private var listener = ListenerStateMachine()
    /// `nil` until the client has named its installation.
    private var identity: ListenerIdentity?
    /// Notifications of this tick, before it is decided which are sent.
    private var arrived: [OutgoingNotification] = []

    init(_ connection: Connection, server: ServerContext, responses: ConnectionResponses) {
        self.connection = connection
        self.server = server
        self.responses = responses
    }

    var number: UInt64 { self.connection.number }

    /// Executes a `listen`: the response is sent when the store watches for this connection.
    func listen(as identity: ListenerIdentity, on stream: UInt32) {
        self.identity = identity
        switch self.listener.listenRequested(on: stream) {
        case .start:
            let loop = self.connection.loop
            loop.listens(self)
            self.server.router.listen(
                NotificationRouting.Listener(number: self.number, loop: loop.number, identity: identity)
            )
        case .wait:
            break
        case .answer:
            self.finish(stream, with: End())
        }
    }

    /// The store watches: later changes are delivered here, after the responses.
    func began() {
        for stream in self.listener.began() { self.finish(stream, with: End()) }
    }

    func failed(_ error: StoreError) {
        for stream in self.listener.failed() { self.finish(stream, with: End(failure: Failure(error))) }
    }

    private func finish(_ stream: UInt32, with end: End) {
        guard self.responses[stream] != nil else { return }
        self.responses.finish(stream, with: end)
    }

    /// Ends listening: the store need no longer watch for this connection.
    func end() {
        guard self.listener.isWatching else { return }
        self.listener = ListenerStateMachine()
        self.arrived = []
        self.connection.loop.listensNoMore(self)
        self.server.router.stopped(self.number)
    }

    // MARK: - Notifications out

    /// Adds a notification, to be sent with the others of this tick.
    ///
    /// - Returns: Whether it is the first of them.
    func arrived(_ notification: OutgoingNotification) -> Bool {
        self.arrived.append(notification)
        return self.arrived.count == 1
    }

    /// Sends the notifications of this tick while there is room; the rest is queued.
    func sendArrived() {
        var notifications: [OutgoingNotification] = []
        swap(&notifications, &self.arrived)
        var kept = 0
        var coalesced = 0
        for notification in notifications {
            guard self.connection.isOpen else { return }
            let isWritable = self.connection.isWritable
            switch self.listener.notificationArrived(notification, isWritable: isWritable) {
            case .send(let number):
                self.write(
                    NotificationWindow.Ready(
                        number: number,
                        notification: notification,
                        isCoalesced: notification.isCoalesced,
                        fires: notification.fires
                    )
                )
            case .keep(let isCoalesced):
                kept += 1
                coalesced += isCoalesced ? 1 : 0
            case .ignore:
                kept += 1
            }
        }
        self.server.metrics.notificationsSent(notifications.count - kept)
        if coalesced > 0 { self.server.metrics.notificationsCoalesced(coalesced) }
        if self.listener.isBlocked { self.connection.watchSocket() }
        self.connection.flush()
        // The array is kept: the next tick needs one again.
        notifications.removeAll(keepingCapacity: true)
        if self.connection.isOpen { swap(&notifications, &self.arrived) }
    }

    /// Sends queued notifications while there is room.
    func sendWaiting() {
        var sent = 0
        while self.connection.isWritable, let ready = self.listener.nextWaiting() {
            self.write(ready)
            sent += 1
        }
        guard sent > 0 else { return }
        self.server.metrics.notificationsSent(sent)
        if self.listener.isBlocked { self.connection.watchSocket() }
    }

    private func write(_ ready: NotificationWindow.Ready) {
        let notification = ready.notification
        self.connection.write(.notification, stream: 0) {
            notification.content.encode(number: ready.number, isCoalesced: ready.isCoalesced, into: &$0)
        }
        self.connection.flushIfLarge(Self.flushedBytes)
        if ready.fires, notification.subject.handed() {
            self.server.store.subscriptions.expire(notification.subject.key)
        }
    }

    // MARK: - Acknowledgements

    /// Asks the machine about an acknowledgement of the client.
    func acknowledged(_ number: UInt64) -> ListenerStateMachine.OnAcknowledgement {
        self.connection.machine.acknowledgementReceived(
            number,
            by: &self.listener,
            now: self.connection.eventLoop.now
        )
    }

    /// The client has processed these notifications, which makes room for others.
    func store(_ acknowledgements: [Acknowledgement]) {
        if let identity { self.server.store.subscriptions.acknowledge(acknowledgements, by: identity) }
        self.sendWaiting()
    }
}
