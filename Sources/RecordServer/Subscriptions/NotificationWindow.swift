import RecordModel
import RecordStore
import WireProtocol

/// The notifications of one listener: at most 64 that were sent and not acknowledged, and queued
/// ones, one per subscription.
///
/// A queued notification keeps the position of the first one of its subscription, so that none
/// starves.
struct NotificationWindow {
    /// A notification at its turn.
    struct Ready {
        var number: UInt64
        var notification: OutgoingNotification
        var isCoalesced: Bool
        /// It, or one that it replaces, spends a subscription that fires only once.
        var fires: Bool
    }

    /// Maximum number of content bytes that a connection may queue; further notifications are
    /// queued without content, as hints.
    static let waitingBytesMax = 1_024 * 1_024

    private struct Sent {
        var subject: ListenedSubscription
        var position: Int64
    }

    private struct Waiting {
        var subject: ListenedSubscription
        var position: Int64
        /// `nil` if the content is not kept, only the fact of a change.
        var notification: OutgoingNotification?
        var isCoalesced: Bool
        var fires: Bool

        var bytes: Int { self.notification?.content.count ?? 0 }
    }

    private var lastNumber: UInt64 = 0
    /// Unacknowledged ones, in order of their numbers; the last number is `lastNumber`.
    private var sent: [Sent] = []
    /// Numbers of queued subscriptions in order; those before `nextTurn` are done.
    private var turns: [UInt64] = []
    private var nextTurn = 0
    private var waiting: [UInt64: Waiting] = [:]
    private var waitingBytes = 0

    private var hasRoom: Bool { self.sent.count < Bounds.notificationsUnacknowledgedMax }

    /// Whether only the socket blocks the next one.
    var isBlocked: Bool { self.hasRoom && !self.waiting.isEmpty }

    mutating func arrived(
        _ notification: OutgoingNotification,
        isWritable: Bool
    ) -> ListenerStateMachine.OnNotification {
        guard isWritable, self.hasRoom, self.waiting.isEmpty else {
            return .keep(isCoalesced: self.keep(notification))
        }
        return .send(number: self.send(about: notification.subject, position: notification.position))
    }

    mutating func nextWaiting() -> Ready? {
        guard self.hasRoom, self.nextTurn < self.turns.count,
            let waiting = self.waiting.removeValue(forKey: self.turns[self.nextTurn])
        else { return nil }
        self.waitingBytes -= waiting.bytes
        self.nextTurn += 1
        // Compacted once half of the list is done: the amortized cost of a turn is constant.
        if self.nextTurn * 2 > self.turns.count {
            self.turns.removeFirst(self.nextTurn)
            self.nextTurn = 0
        }
        let notification =
            waiting.notification
            ?? waiting.subject.news(upTo: waiting.position, isCoalesced: waiting.isCoalesced)
        return Ready(
            number: self.send(about: waiting.subject, position: waiting.position),
            notification: notification,
            isCoalesced: waiting.isCoalesced,
            fires: waiting.fires
        )
    }

    mutating func acknowledged(_ number: UInt64) -> ListenerStateMachine.OnAcknowledgement {
        guard number <= self.lastNumber else { return .close(.messageMalformed) }
        let left = Int(self.lastNumber - number)
        guard left < self.sent.count else { return .ignore }
        let taken = self.sent.count - left
        var acknowledgements: [Acknowledgement] = []
        for (index, sent) in self.sent.prefix(taken).enumerated() {
            // Positions of a subscription ascend: the last one is enough.
            let isLast = !self.sent[(index + 1)..<taken].contains { $0.subject === sent.subject }
            guard isLast else { continue }
            acknowledgements.append(
                Acknowledgement(subscription: sent.subject.key, position: sent.position)
            )
        }
        self.sent.removeFirst(taken)
        return .acknowledge(acknowledgements)
    }

    private mutating func send(about subject: ListenedSubscription, position: Int64) -> UInt64 {
        self.lastNumber += 1
        self.sent.append(Sent(subject: subject, position: position))
        return self.lastNumber
    }

    /// Returns whether another one of the subscription was queued.
    private mutating func keep(_ notification: OutgoingNotification) -> Bool {
        let subscription = notification.subject.number
        let replaced = self.waiting[subscription]
        self.waitingBytes -= replaced?.bytes ?? 0
        if replaced == nil { self.turns.append(subscription) }
        let hasRoom = self.waitingBytes + notification.content.count <= Self.waitingBytesMax
        let kept = Waiting(
            subject: notification.subject,
            position: notification.position,
            notification: hasRoom ? notification : nil,
            isCoalesced: replaced != nil || notification.isCoalesced || !hasRoom,
            fires: notification.fires || replaced?.fires == true
        )
        self.waitingBytes += kept.bytes
        self.waiting[subscription] = kept
        return replaced != nil
    }
}
