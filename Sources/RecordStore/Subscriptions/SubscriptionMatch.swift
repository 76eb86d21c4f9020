import RecordModel
import StorageContract

/// Whether the last change of a record is one that a subscription is about, and why.
///
/// The same rules as those of the router of notifications, applied to the record as it is now.
struct SubscriptionMatch {
    /// The record and its last change.
    struct Change {
        var record: ComparedRecord
        var zone: ZoneID
        var position: Int64
        var isCreation: Bool
        /// The database in which subscriptions are searched.
        var scope: DatabaseScope

        var subject: Subject {
            Subject(zone: self.zone, recordType: self.record.record.stored.recordType, scope: self.scope)
        }
    }

    /// The place and the type of a record that changed.
    struct Subject {
        var zone: ZoneID
        var recordType: String
        /// The database in which subscriptions are searched.
        var scope: DatabaseScope
    }

    let isMatch: Bool
    let why: String

    private init(_ isMatch: Bool, _ why: String) {
        self.isMatch = isMatch
        self.why = why
    }

    /// - Parameters:
    ///   - kind: The kind of the subscription.
    ///   - savedPosition: The position at which it was saved last.
    ///   - change: The last change of the record.
    ///   - shape: The shape of the record's type.
    ///   - mayRead: Whether the subscription's user may read the record.
    init(
        of kind: Subscription.Kind,
        savedAt savedPosition: Int64,
        change: Change,
        shape: RecordTypeShape,
        mayRead: Bool
    ) {
        if let other = Self.otherSubject(kind, change.subject) {
            self = other
        } else if case .query(_, let predicate, _, let firesOn) = kind {
            self = Self.query(predicate, firesOn, change, shape, mayRead)
        } else {
            self.init(true, "Every change there fires it.")
        }
        if self.isMatch, savedPosition >= change.position {
            self.init(false, "It was saved after the last change, and fires with the next one.")
        }
    }

    /// The verdict for a subscription about another place or type; `nil` if it is about this one.
    static func otherSubject(_ kind: Subscription.Kind, _ change: Subject) -> SubscriptionMatch? {
        let isDefault = change.zone.zoneName == ZoneID.defaultZoneName
        switch kind {
        case .query(let recordType, _, let zone, _):
            return self.otherZone(zone, change) ?? self.otherType(recordType, change)
        case .zone(let zone, let recordType):
            return self.otherZone(zone, change) ?? self.otherType(recordType, change)
        case .database(let recordType):
            guard !isDefault else {
                return Self(false, "Changes of the default zone fire no subscription of a database.")
            }
            // Changes of a shared database come without a type.
            return change.scope == .shared ? nil : self.otherType(recordType, change)
        }
    }

    private static func otherZone(_ zone: ZoneID?, _ change: Subject) -> SubscriptionMatch? {
        guard let zone, zone.zoneName != change.zone.zoneName else { return nil }
        return Self(false, "It is about the zone '\(zone.zoneName)'.")
    }

    private static func otherType(_ recordType: String?, _ change: Subject) -> SubscriptionMatch? {
        guard let recordType, recordType != change.recordType else { return nil }
        return Self(false, "It is about records of type '\(recordType)'.")
    }

    private static func query(
        _ predicate: Predicate,
        _ firesOn: Subscription.FiresOn,
        _ change: Change,
        _ shape: RecordTypeShape,
        _ mayRead: Bool
    ) -> SubscriptionMatch {
        let event = change.isCreation ? "the creation" : "an update"
        guard firesOn.contains(change.isCreation ? .creation : .update) else {
            return Self(false, "The last change was \(event) of the record, for which it does not fire.")
        }
        guard CheckedCondition(predicate, shape: shape).matches(change.record) else {
            return Self(false, "The record does not meet its condition.")
        }
        guard mayRead else { return Self(false, "Its user may not read the record.") }
        return Self(true, "The record meets its condition, and the last change was \(event).")
    }
}
