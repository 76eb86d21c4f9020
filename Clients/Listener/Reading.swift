import CloudKit

/// The changes of a database, or of a zone of it.
enum Feed: Hashable, Sendable {
    case database(CKDatabase.Scope)
    case zone(CKRecordZone.ID, CKDatabase.Scope)

    /// A text for people, and for the state file.
    var text: String {
        switch self {
        case .database(let scope): scope.text
        case .zone(let zone, let scope): "\(scope.text)/\(zone.ownerName)/\(zone.zoneName)"
        }
    }

    var scope: CKDatabase.Scope {
        switch self {
        case .database(let scope), .zone(_, let scope): scope
        }
    }
}

/// The records of a feed that are wanted.
struct RecordFilter: Hashable {
    let recordType: CKRecord.RecordType
    let predicate: NSPredicate

    func isMet(by record: CKRecord) -> Bool {
        record.recordType == self.recordType && self.predicate.evaluate(with: record)
    }
}

/// A feed that is fetched for a subscription: all of it, or the records that match a query.
struct Reading: Hashable {
    var feed: Feed
    /// `nil` if all changes are wanted.
    var filter: RecordFilter?

    /// A text for people, and for the state file.
    var text: String {
        guard let filter else { return self.feed.text }
        return "\(self.feed.text) \(filter.recordType) \(filter.predicate)"
    }

    /// Makes the reading for a subscription.
    init(_ subscription: CKSubscription, in scope: CKDatabase.Scope) {
        switch subscription {
        case let query as CKQuerySubscription:
            self.feed = query.zoneID.map { .zone($0, scope) } ?? .database(scope)
            self.filter = query.recordType.map { RecordFilter(recordType: $0, predicate: query.predicate) }
        case let zone as CKRecordZoneSubscription: self.feed = .zone(zone.zoneID, scope)
        default: self.feed = .database(scope)
        }
    }

    /// Makes the reading of everything that a notification can be about.
    init(_ notice: Notice) {
        self.feed = notice.zone.map { .zone($0, notice.scope) } ?? .database(notice.scope)
    }

    /// Returns the part of it in a zone.
    func within(_ zone: CKRecordZone.ID?) -> Reading {
        guard let zone, case .database(let scope) = self.feed else { return self }
        var part = self
        part.feed = .zone(zone, scope)
        return part
    }
}
