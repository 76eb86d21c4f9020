import RecordModel
import RecordStore
import StorageContract

/// Finds the subscriptions that a committed change can match.
///
/// They are in its database, and name its zone and its record type, or none. Queries that demand a
/// field's value must also match the record's value. So the cost of a change depends on the number
/// of subscriptions to similar changes, not on the total number.
struct SubscriptionIndex {
    /// The subscriptions to one zone, or to all zones.
    private struct Place {
        /// By record type.
        var queries: [String: Queries] = [:]
        /// Subscriptions of the zone or of the database, by their record type.
        var changes: [String?: Groups] = [:]

        var isEmpty: Bool { self.queries.isEmpty && self.changes.isEmpty }

        mutating func insert(_ watch: Watch) {
            switch watch.subject.comparedKind {
            case .query(let recordType, let predicate, _, _):
                self.queries[recordType, default: Queries()].insert(watch, predicate)
            case .zone(_, let recordType), .database(let recordType):
                self.changes[recordType, default: Groups()].insert(watch)
            }
        }

        mutating func remove(_ watch: Watch) {
            switch watch.subject.comparedKind {
            case .query(let recordType, _, _, _):
                self.queries[recordType]?.remove(watch)
                if self.queries[recordType]?.isEmpty == true { self.queries[recordType] = nil }
            case .zone(_, let recordType), .database(let recordType):
                self.changes[recordType]?.remove(watch)
                if self.changes[recordType]?.isEmpty == true { self.changes[recordType] = nil }
            }
        }

        func forEachQuery(_ body: (WatchGroup) -> Void) {
            for queries in self.queries.values { queries.forEach(body) }
        }

        func forEachChange(_ body: (WatchGroup) -> Void) {
            for groups in self.changes.values { groups.forEach(body) }
        }
    }

    /// Queries of one record type in a zone, or in all zones.
    private struct Queries {
        var others = Groups()
        /// By field and value.
        var demanding: [String: [ComparableValue: Groups]] = [:]

        var isEmpty: Bool { self.others.isEmpty && self.demanding.isEmpty }

        mutating func insert(_ watch: Watch, _ predicate: Predicate) {
            // The demand that fewest other queries share is the most selective.
            let demand = predicate.demands.min { self.countOfOthers($0) < self.countOfOthers($1) }
            watch.demand = demand
            guard let demand else { return self.others.insert(watch) }
            for value in demand.values {
                self.demanding[demand.field, default: [:]][value, default: Groups()].insert(watch)
            }
        }

        mutating func remove(_ watch: Watch) {
            guard let demand = watch.demand else { return self.others.remove(watch) }
            for value in demand.values {
                self.demanding[demand.field]?[value]?.remove(watch)
                if self.demanding[demand.field]?[value]?.isEmpty == true {
                    self.demanding[demand.field]?[value] = nil
                }
            }
            if self.demanding[demand.field]?.isEmpty == true { self.demanding[demand.field] = nil }
        }

        func forEach(_ body: (WatchGroup) -> Void) {
            self.others.forEach(body)
            for values in self.demanding.values { values.values.forEach { $0.forEach(body) } }
        }

        func forEach(meeting record: ComparedRecord, _ body: (WatchGroup) -> Void) {
            self.others.forEach(body)
            // A record has a bounded number of fields; users may ask for any number of fields.
            if self.demanding.count <= record.fieldsCount {
                for (field, values) in self.demanding { Self.forEach(values, record, field, body) }
            } else {
                record.forEachField { field in
                    if let values = self.demanding[field] { Self.forEach(values, record, field, body) }
                }
            }
        }

        private static func forEach(
            _ values: [ComparableValue: Groups],
            _ record: ComparedRecord,
            _ field: String,
            _ body: (WatchGroup) -> Void
        ) {
            for element in record.elements(of: field) ?? [] { values[element]?.forEach(body) }
        }

        private func countOfOthers(_ demand: DemandedValues) -> Int {
            guard let values = self.demanding[demand.field] else { return 0 }
            return demand.values.reduce(0) { $0 + (values[$1]?.count ?? 0) }
        }
    }

    /// The result of one look-up, by user.
    private struct Groups {
        private var byAudience: [ObjectIdentifier: WatchGroup] = [:]
        private(set) var count = 0

        var isEmpty: Bool { self.count == 0 }

        mutating func insert(_ watch: Watch) {
            let audience = ObjectIdentifier(watch.audience)
            let group = self.byAudience[audience] ?? WatchGroup(of: watch.audience)
            self.byAudience[audience] = group
            if group.insert(watch) { self.count += 1 }
        }

        mutating func remove(_ watch: Watch) {
            let audience = ObjectIdentifier(watch.audience)
            guard let group = self.byAudience[audience], group.remove(watch) else { return }
            self.count -= 1
            if group.watches.isEmpty { self.byAudience[audience] = nil }
        }

        func forEach(_ body: (WatchGroup) -> Void) { self.byAudience.values.forEach(body) }
    }

    private struct Database {
        var everywhere = Place()
        var zones: [String: Place] = [:]

        var isEmpty: Bool { self.zones.isEmpty && self.everywhere.isEmpty }

        /// Changes the entry of a zone, or of all zones if it is `nil`.
        mutating func change(_ zone: String?, _ body: (inout Place) -> Void) {
            guard let zone else { return body(&self.everywhere) }
            body(&self.zones[zone, default: Place()])
            if self.zones[zone]?.isEmpty == true { self.zones[zone] = nil }
        }
    }

    private var databases: [DatabaseID: Database] = [:]

    mutating func insert(_ watch: Watch) {
        self.databases[watch.subject.key.database, default: Database()]
            .change(Self.zone(of: watch)) { $0.insert(watch) }
    }

    mutating func remove(_ watch: Watch) {
        let id = watch.subject.key.database
        self.databases[id]?.change(Self.zone(of: watch)) { $0.remove(watch) }
        if self.databases[id]?.isEmpty == true { self.databases[id] = nil }
    }

    var isEmpty: Bool { self.databases.isEmpty }

    /// Whether any query's condition may be met by a record of this type.
    func hasQueries(ofType recordType: String, inZone zone: String, of id: DatabaseID) -> Bool {
        guard let database = self.databases[id] else { return false }
        return database.everywhere.queries[recordType] != nil
            || database.zones[zone]?.queries[recordType] != nil
    }

    /// Visits all queries with a condition that a record may meet; some of them twice, if a list
    /// contains several demanded values.
    func forEachQuery(
        meeting record: ComparedRecord,
        inZone zone: String,
        of id: DatabaseID,
        _ body: (WatchGroup) -> Void
    ) {
        guard let database = self.databases[id] else { return }
        let recordType = record.record.stored.recordType
        database.everywhere.queries[recordType]?.forEach(meeting: record, body)
        database.zones[zone]?.queries[recordType]?.forEach(meeting: record, body)
    }

    /// Visits all queries about records in a zone, of a type or of any; repeats those that demand
    /// one of several values.
    func forEachQuery(
        ofType recordType: String?,
        inZone zone: String,
        of id: DatabaseID,
        _ body: (WatchGroup) -> Void
    ) {
        guard let database = self.databases[id] else { return }
        for part in [database.everywhere, database.zones[zone]].compactMap({ $0 }) {
            if let recordType { part.queries[recordType]?.forEach(body) } else { part.forEachQuery(body) }
        }
    }

    /// Visits all subscriptions of the zone or of the database that a change of a record of this
    /// type fires.
    ///
    /// `_defaultZone` fires none. Without a type, the zone itself was created or deleted, which
    /// fires only the database's subscriptions.
    func forEachChange(
        ofType recordType: String?,
        inZone zone: String,
        of id: DatabaseID,
        _ body: (WatchGroup) -> Void
    ) {
        guard zone != ZoneID.defaultZoneName, let database = self.databases[id] else { return }
        database.everywhere.changes[.none]?.forEach(body)
        guard let recordType else { return }
        database.everywhere.changes[recordType]?.forEach(body)
        guard let part = database.zones[zone] else { return }
        part.changes[.none]?.forEach(body)
        part.changes[recordType]?.forEach(body)
    }

    /// Visits all subscriptions of a database; repeats those that demand one of several values.
    func forEach(in id: DatabaseID, _ body: (WatchGroup) -> Void) {
        guard let database = self.databases[id] else { return }
        for part in [database.everywhere] + database.zones.values {
            part.forEachQuery(body)
            part.forEachChange(body)
        }
    }

    /// Visits all subscriptions that any change in a zone may fire; repeats those that demand one
    /// of several values.
    func forEach(lookingAt zone: String, of id: DatabaseID, _ body: (WatchGroup) -> Void) {
        guard let database = self.databases[id] else { return }
        for part in [database.everywhere, database.zones[zone]].compactMap({ $0 }) {
            part.forEachQuery(body)
            // As in `forEachChange`.
            if zone != ZoneID.defaultZoneName { part.forEachChange(body) }
        }
    }

    /// The zone of a subscription; `nil` if it covers all zones.
    private static func zone(of watch: Watch) -> String? {
        switch watch.subject.comparedKind {
        case .query(_, _, let zone, _): zone?.zoneName
        case .zone(let zone, _): zone.zoneName
        case .database: nil
        }
    }
}
