package import RecordModel
import StorageContract

/// Rules for a subscription that follow from its definition alone.
enum SubscriptionRules {
    static func check(_ subscription: Subscription, scope: DatabaseScope) throws(StoreError) {
        guard NameRules.isSubscriptionID(subscription.id) else { throw .nameInvalid(.subscription) }
        switch subscription.kind {
        case .query(let recordType, _, let zone, _):
            guard scope != .shared else { throw .databaseNotAllowed }
            guard recordType == UserRecord.type || NameRules.isIdentifier(recordType.utf8) else {
                throw .nameInvalid(.recordType)
            }
            try QueryCheck.checkIsOpen(recordType)
            if let zone { try self.check(zone) }
        case .zone(let zone, let recordType):
            guard scope == .private else { throw .databaseNotAllowed }
            guard !zone.isDefault else { throw .subscriptionZoneNotAllowed }
            try self.check(zone)
            try self.check(recordType)
        case .database(let recordType):
            guard scope != .public else { throw .databaseNotAllowed }
            try self.check(recordType)
        }
        if let info = subscription.info {
            for field in info.fields where !NameRules.isIdentifier(field.utf8) {
                guard SystemField(rawValue: field) != nil else { throw .nameInvalid(.field) }
            }
        }
    }

    private static func check(_ zone: ZoneID) throws(StoreError) {
        guard zone.isDefault || NameRules.isItemName(zone.zoneName) else { throw .nameInvalid(.zone) }
    }

    private static func check(_ recordType: String?) throws(StoreError) {
        guard let recordType else { return }
        guard NameRules.isIdentifier(recordType.utf8) else { throw .nameInvalid(.recordType) }
    }
}

extension NotificationInfo {
    /// Names of the fields with values that go into a notification.
    fileprivate var fields: [String] {
        self.desiredKeys + self.alertLocalizationArgs + self.titleLocalizationArgs
            + self.subtitleLocalizationArgs
    }
}

extension Subscription {
    /// The zone that it is bound to.
    package var zone: ZoneID? {
        switch self.kind {
        case .query(_, _, let zone, _): zone
        case .zone(let zone, _): zone
        case .database: nil
        }
    }

    /// The record type that it is about; `nil` if it is about all.
    package var recordType: String? {
        switch self.kind {
        case .query(let recordType, _, _, _): recordType
        case .zone(_, let recordType), .database(let recordType): recordType
        }
    }

    /// The same, with the requester's own zone named without its owner, so that it is defined in one way.
    func canonical(for requester: Requester) -> Subscription {
        guard let zone = self.zone, Access.isOwn(zone, of: requester) else { return self }
        let own = ZoneID(zoneName: zone.zoneName)
        var canonical = self
        switch self.kind {
        case .query(let recordType, let predicate, _, let firesOn):
            canonical.kind = .query(
                recordType: recordType,
                predicate: predicate,
                zone: own,
                firesOn: firesOn
            )
        case .zone(_, let recordType): canonical.kind = .zone(own, recordType: recordType)
        case .database: break
        }
        return canonical
    }
}
