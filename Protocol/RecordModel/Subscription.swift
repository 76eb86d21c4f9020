/// A subscription of a user to changes in one database.
package struct Subscription: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Records that meet a condition; `zone` is `nil` for all zones.
        case query(recordType: String, predicate: Predicate, zone: ZoneID?, firesOn: FiresOn)
        /// Any change in a zone; `recordType` is `nil` for all types.
        case zone(ZoneID, recordType: String?)
        /// Any change in a custom zone of the database.
        case database(recordType: String?)
    }

    /// The events for which a query subscription fires.
    ///
    /// The bits are CloudKit's.
    package struct FiresOn: OptionSet, Hashable, Sendable {
        /// All options.
        package static let all: FiresOn = [.events, .once]
        /// Events of a record.
        ///
        /// A subscription without any never fires.
        package static let events: FiresOn = [.creation, .update, .deletion]

        package let rawValue: UInt32
        package static let creation = FiresOn(rawValue: 1 << 0)
        package static let update = FiresOn(rawValue: 1 << 1)
        package static let deletion = FiresOn(rawValue: 1 << 2)
        /// The first notification deletes the subscription.
        package static let once = FiresOn(rawValue: 1 << 3)

        package init(rawValue: UInt32) { self.rawValue = rawValue }
    }

    package var id: String
    package var kind: Kind
    package var info: NotificationInfo?

    package init(id: String, kind: Kind, info: NotificationInfo? = nil) {
        self.id = id
        self.kind = kind
        self.info = info
    }
}

/// The content of a notification besides the event.
///
/// The fields are CloudKit's.
package struct NotificationInfo: Hashable, Sendable {
    package var alertBody = ""
    package var alertLocalizationKey = ""
    package var alertLocalizationArgs: [String] = []
    package var title = ""
    package var titleLocalizationKey = ""
    package var titleLocalizationArgs: [String] = []
    package var subtitle = ""
    package var subtitleLocalizationKey = ""
    package var subtitleLocalizationArgs: [String] = []
    package var alertActionLocalizationKey = ""
    package var alertLaunchImage = ""
    package var soundName = ""
    package var desiredKeys: [String] = []
    package var shouldBadge = false
    package var shouldSendContentAvailable = false
    package var shouldSendMutableContent = false
    package var category = ""
    package var collapseIDKey = ""

    package init() {}
}

/// Saves and deletes subscriptions.
///
/// Items are numbered: saves first, then deletes.
package struct ModifySubscriptions: Hashable, Sendable {
    package var scope: DatabaseScope
    package var saves: [Subscription]
    package var deletes: [String]

    package init(scope: DatabaseScope, saves: [Subscription], deletes: [String] = []) {
        self.scope = scope
        self.saves = saves
        self.deletes = deletes
    }
}

/// Fetches subscriptions of the user.
package struct FetchSubscriptions: Hashable, Sendable {
    package enum Selection: Hashable, Sendable {
        case all
        case ids([String])
    }

    package var scope: DatabaseScope
    package var selection: Selection

    package init(scope: DatabaseScope, selection: Selection) {
        self.scope = scope
        self.selection = selection
    }
}

/// An event that fired a subscription.
package struct Notification: Hashable, Sendable {
    package enum Reason: UInt8, Hashable, Sendable {
        case recordCreated = 1
        case recordUpdated = 2
        case recordDeleted = 3
    }

    package enum Event: Hashable, Sendable {
        /// `nil` for changes while the listener was away.
        case query(RecordChange?)
        case zone(ZoneID)
        case database
    }

    /// The change of a record for a query subscription.
    package struct RecordChange: Hashable, Sendable {
        package var id: RecordID
        package var reason: Reason
        /// The values of the subscription's desired keys.
        package var fields: RecordBody

        package init(id: RecordID, reason: Reason, fields: RecordBody = .empty) {
            self.id = id
            self.reason = reason
            self.fields = fields
        }
    }

    /// Starts at 1 on each connection and increases by 1.
    package var number: UInt64
    package var subscriptionID: String
    package var scope: DatabaseScope
    package var event: Event
    /// Whether earlier notifications were omitted.
    package var isCoalesced: Bool
    /// Whether values in `event` or `info` were omitted because the notification would have been
    /// too large.
    package var isPruned: Bool
    /// User record name of the subscription's owner.
    package var owner: String
    /// Field names are replaced by values of the record.
    package var info: NotificationInfo?
    /// The time of the commit in milliseconds since 1970; 0 if it happened while the listener was
    /// away.
    package var committedMilliseconds: Int64

    package init(
        number: UInt64,
        subscriptionID: String,
        scope: DatabaseScope,
        event: Event,
        isCoalesced: Bool = false,
        isPruned: Bool = false,
        owner: String,
        info: NotificationInfo? = nil,
        committedMilliseconds: Int64
    ) {
        self.number = number
        self.subscriptionID = subscriptionID
        self.scope = scope
        self.event = event
        self.isCoalesced = isCoalesced
        self.isPruned = isPruned
        self.owner = owner
        self.info = info
        self.committedMilliseconds = committedMilliseconds
    }
}
