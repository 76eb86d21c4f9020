import RecordModel
import StorageContract
import Synchronization
import WireProtocol

/// A subscription as saved at one position, with at least one listener.
///
/// It identifies the subscription for the router, the event loops and a listener's queues; saving
/// the subscription again makes another one.
final class ListenedSubscription: Sendable {
    /// Assigned by the router; never reused.
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

    /// A notification was handed to a listener, or a hint at changes that nothing listened for.
    ///
    /// - Returns: `true`, once, if the subscription fires only once and must be deleted now.
    func handed() -> Bool {
        guard self.firesOnce else { return false }
        return !self.isExpiring.exchange(true, ordering: .relaxed)
    }

    var firesOnce: Bool {
        guard case .query(_, _, _, let firesOn) = self.subscription.kind else { return false }
        return firesOn.contains(.once)
    }

    /// The kind to compare changes with: those of a shared database have no record type, so a
    /// subscription that names a type gets all.
    var comparedKind: Subscription.Kind {
        switch (self.scope, self.subscription.kind) {
        case (.shared, .database): .database(recordType: nil)
        case (_, let kind): kind
        }
    }

    /// A hint that something may have changed, without details.
    ///
    /// It covers everything up to the position; a coalesced one replaces notifications that the
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

/// A notification for any number of listeners: made once, only its number differs by listener.
final class OutgoingNotification: Sendable {
    let subject: ListenedSubscription
    /// A listener that acknowledges it knows all changes up to this position.
    let position: Int64
    let content: SharedNotification
    /// It replaces others that were not sent.
    let isCoalesced: Bool
    /// Whether it spends a subscription that fires only once.
    ///
    /// A hint does not while the subscription has listeners: whether its condition was met is
    /// unknown.
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
