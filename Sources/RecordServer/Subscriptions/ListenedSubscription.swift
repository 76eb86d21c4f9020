import RecordModel
import RecordStore
import Synchronization
import WireProtocol

/// A subscription as it was saved at one position, which somebody listens for.
///
/// What the router, the event loops and every queue of a listener name it by; saved again it is
/// another one.
final class ListenedSubscription: Sendable {
    /// Of the router; never used again.
    let number: UInt64
    let key: SubscriptionKey
    let subscription: Subscription
    let scope: DatabaseScope
    private let isExpiring = Atomic<Bool>(false)

    init(number: UInt64, key: SubscriptionKey, subscription: Subscription, scope: DatabaseScope) {
        self.number = number
        self.key = key
        self.subscription = subscription
        self.scope = scope
    }

    /// A notification that says what happened was handed to a listener, or what may have happened
    /// while nobody listened.
    ///
    /// `true`, once: the subscription was to fire once, and is to be deleted now.
    func handed() -> Bool {
        guard self.firesOnce else { return false }
        return !self.isExpiring.exchange(true, ordering: .relaxed)
    }

    var firesOnce: Bool {
        guard case .query(_, _, _, let firesOn) = self.subscription.kind else { return false }
        return firesOn.contains(.once)
    }

    /// The kind with which changes are compared: those of a shared database come without a record
    /// type, so a subscription that names a type hears of all.
    var comparedKind: Subscription.Kind {
        switch (self.scope, self.subscription.kind) {
        case (.shared, .database): .database(recordType: nil)
        case (_, let kind): kind
        }
    }

    /// Says that something may have happened, and not what.
    ///
    /// Everything up to the position is news; coalesced it stands for notifications that the
    /// listener does not get.
    func news(upTo position: Int64, isCoalesced: Bool, fires: Bool = true) -> OutgoingNotification {
        let event: Notification.Event =
            switch self.subscription.kind {
            case .query: .query(nil)
            case .zone(let zone, _): .zone(zone)
            case .database: .database
            }
        let content = NotificationContent(of: self, event: event, values: nil, committedMilliseconds: 0)
        return OutgoingNotification(
            about: self,
            position: position,
            content: content.encoded,
            isCoalesced: isCoalesced,
            fires: fires
        )
    }
}

/// A notification on its way to any number of listeners: made once, only its number is each
/// listener's own.
final class OutgoingNotification: Sendable {
    let subject: ListenedSubscription
    /// A listener that acknowledges it knows of everything up to here.
    let position: Int64
    let content: SharedNotification
    /// It stands for others that nobody gets.
    let isCoalesced: Bool
    /// A subscription that is to fire once has with it.
    ///
    /// Not with news while it is listened for: nobody knows whether its condition was met.
    let fires: Bool

    init(
        about subject: ListenedSubscription,
        position: Int64,
        content: SharedNotification,
        isCoalesced: Bool,
        fires: Bool = true
    ) {
        self.subject = subject
        self.position = position
        self.content = content
        self.isCoalesced = isCoalesced
        self.fires = fires
    }
}
