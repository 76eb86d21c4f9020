import RecordModel
import RecordStore

/// Which subscriptions a committed change can match: those of its database that name its zone and its record type, or none.
///
/// So what a change costs follows from how many are interested in changes like it, not from how many there are.
struct SubscriptionIndex<Element> {
    /// What is listened for in one place: a zone, or all of them.
    private struct Place {
        /// Queries, by record type.
        var queries: [String: [UInt64: Element]] = [:]
        /// Subscriptions of the zone or of the database, by the record type that they name.
        var changes: [String?: [UInt64: Element]] = [:]

        var isEmpty: Bool { self.queries.isEmpty && self.changes.isEmpty }

        mutating func set(_ element: Element?, numbered number: UInt64, for kind: Subscription.Kind) {
            switch kind {
            case .query(let recordType, _, _, _):
                self.queries[recordType, default: [:]][number] = element
                if self.queries[recordType]?.isEmpty == true { self.queries[recordType] = nil }
            case .zone(_, let recordType), .database(let recordType):
                self.changes[recordType, default: [:]][number] = element
                if self.changes[recordType]?.isEmpty == true { self.changes[recordType] = nil }
            }
        }
    }

    private struct Database {
        var everywhere = Place()
        var zones: [String: Place] = [:]

        /// `nil`: all zones.
        subscript(_ zone: String?) -> Place {
            get {
                guard let zone else { return self.everywhere }
                return self.zones[zone] ?? Place()
            }
            set {
                if let zone { self.zones[zone] = newValue } else { self.everywhere = newValue }
            }
        }
    }

    private var databases: [DatabaseID: Database] = [:]

    /// Adds a subscription under a number of its own.
    mutating func insert(
        _ element: Element,
        numbered number: UInt64,
        for kind: Subscription.Kind,
        in id: DatabaseID
    ) {
        var database = self.databases.removeValue(forKey: id) ?? Database()
        database[Self.zone(of: kind)].set(element, numbered: number, for: kind)
        self.databases[id] = database
    }

    mutating func remove(numbered number: UInt64, for kind: Subscription.Kind, in id: DatabaseID) {
        guard var database = self.databases.removeValue(forKey: id) else { return }
        let zone = Self.zone(of: kind)
        database[zone].set(nil, numbered: number, for: kind)
        if let zone, database.zones[zone]?.isEmpty == true { database.zones[zone] = nil }
        if !database.zones.isEmpty || !database.everywhere.isEmpty { self.databases[id] = database }
    }

    var isEmpty: Bool { self.databases.isEmpty }

    /// Calls with every query whose condition a record of this type may meet.
    func forEachQuery(
        ofType recordType: String,
        inZone zone: String,
        of id: DatabaseID,
        _ body: (Element) -> Void
    ) {
        guard let database = self.databases[id] else { return }
        database.everywhere.queries[recordType]?.values.forEach(body)
        database.zones[zone]?.queries[recordType]?.values.forEach(body)
    }

    /// Calls with every subscription of the zone or of the database that a change of a record of this type fires.
    ///
    /// `_defaultZone` fires none. Without a type the zone itself came or went, which is the database's alone.
    func forEachChange(
        ofType recordType: String?,
        inZone zone: String,
        of id: DatabaseID,
        _ body: (Element) -> Void
    ) {
        guard zone != ZoneID.defaultZoneName, let database = self.databases[id] else { return }
        database.everywhere.changes[.none]?.values.forEach(body)
        guard let recordType else { return }
        database.everywhere.changes[recordType]?.values.forEach(body)
        guard let place = database.zones[zone] else { return }
        place.changes[.none]?.values.forEach(body)
        place.changes[recordType]?.values.forEach(body)
    }

    /// Calls with every subscription of a database.
    func forEach(in id: DatabaseID, _ body: (Element) -> Void) {
        guard let database = self.databases[id] else { return }
        for place in [database.everywhere] + database.zones.values {
            for elements in Array(place.queries.values) + Array(place.changes.values) {
                elements.values.forEach(body)
            }
        }
    }

    /// `nil`: all zones.
    private static func zone(of kind: Subscription.Kind) -> String? {
        switch kind {
        case .query(_, _, let zone, _): zone?.zoneName
        case .zone(let zone, _): zone.zoneName
        case .database: nil
        }
    }
}
