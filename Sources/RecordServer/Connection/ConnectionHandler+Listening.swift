import NIOCore
import RecordStore
import Transport
import WireProtocol

// A connection that listens: what the router has for it becomes frames, and its acknowledgements go to the store.
extension ConnectionHandler {
    /// Executes a `listen`: the answer comes when the store watches for this connection.
    func listen(as identity: ListenerIdentity, on stream: UInt32) {
        switch self.listener.listenRequested(on: stream) {
        case .start:
            self.loop.listens(self)
            self.server.router.listen(
                NotificationRouting.Listener(number: self.number, loop: self.loop.number, identity: identity)
            )
        case .wait:
            break
        case .answer:
            self.endListen(stream, with: End())
        }
    }

    /// The store watches: what it reports from now on comes here, and the answers go out before it.
    func listeningBegan() {
        for stream in self.listener.began() { self.endListen(stream, with: End()) }
    }

    func listeningFailed(_ error: StoreError) {
        for stream in self.listener.failed() { self.endListen(stream, with: End(failure: Failure(error))) }
    }

    private func endListen(_ stream: UInt32, with end: End) {
        guard self.answers[stream] != nil else { return }
        guard !self.breaksConnection(insteadOf: stream) else { return self.closeQuietly() }
        self.end(stream, with: end)
    }

    /// Nobody listens any more: the store need not watch for it.
    func endListening() {
        guard self.listener.isWatching else { return }
        self.listener = ListenerStateMachine()
        self.arrived = []
        self.loop.listensNoMore(self)
        self.server.router.stopped(self.number)
    }

    // MARK: - Notifications out

    /// Takes a notification, to be sent with the others that come in this tick.
    ///
    /// `true`: it is the first of them.
    func arrived(_ notification: OutgoingNotification) -> Bool {
        self.arrived.append(notification)
        return self.arrived.count == 1
    }

    /// Sends what came in this tick, as far as there is room; the rest waits.
    func sendArrived() {
        var notifications: [OutgoingNotification] = []
        swap(&notifications, &self.arrived)
        var kept = 0
        var coalesced = 0
        for notification in notifications {
            guard let context else { return }
            let isWritable = context.channel.isWritable
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
        if self.listener.isBlocked { self.startSocketTimer() }
        self.flush()
        // The array is kept: the next tick needs one again.
        notifications.removeAll(keepingCapacity: true)
        if self.context != nil { swap(&notifications, &self.arrived) }
    }

    /// Sends what waits, as far as there is room.
    func sendWaiting() {
        var sent = 0
        while let context, context.channel.isWritable, let ready = self.listener.nextWaiting() {
            self.write(ready)
            sent += 1
        }
        guard sent > 0 else { return }
        self.server.metrics.notificationsSent(sent)
        if self.listener.isBlocked { self.startSocketTimer() }
    }

    private func write(_ ready: NotificationWindow.Ready) {
        let notification = ready.notification
        self.prepareOutbound()
        FrameEncoder.write(.notification, stream: 0, into: &self.outbound) {
            notification.content.encode(number: ready.number, isCoalesced: ready.isCoalesced, into: &$0)
        }
        // Flushed early, many notifications show in time whether the socket takes them.
        if self.outbound.readableBytes >= Self.itemsFrameBytesMax { self.flush() }
        if ready.fires, notification.subject.handed() {
            self.server.store.subscriptions.expire(notification.subject.key)
        }
    }

    // MARK: - Acknowledgements

    func acknowledgementReceived(_ acknowledgement: NotificationAck) {
        switch self.machine.acknowledgementReceived(
            acknowledgement.number,
            by: &self.listener,
            now: self.eventLoop.now
        ) {
        case .acknowledge(let acknowledgements):
            if let identity = self.user?.listenerIdentity {
                self.server.store.subscriptions.acknowledge(acknowledgements, by: identity)
            }
            self.sendWaiting()
        case .ignore:
            break
        case .close(let reason):
            self.close(reason, detail: "notification_ack")
        }
    }
}
