import RecordModel

/// Fills one page from the candidates of a plan.
final class QueryPage {
    enum Zones {
        case one(NamedZone)
        case all(DatabaseID)
    }

    let query: CheckedQuery
    let plan: QueryPlan
    let budget: QueryBudget
    let store: QueryStore
    let order: SortOrder
    private let read: QueryRead
    private let zones: Zones
    private let rule: ReadRule
    let interest: FieldsOfInterest
    private let filterCost: ComparisonCost
    private let desiredKeys: Set<String>?

    private(set) var records: [Record] = []
    private(set) var count: Int64 = 0
    private var bytes = 0

    init(
        _ read: QueryRead,
        _ query: CheckedQuery,
        _ plan: QueryPlan,
        zones: Zones,
        rule: ReadRule,
        budget: QueryBudget,
        store: QueryStore
    ) {
        self.read = read
        self.query = query
        self.plan = plan
        self.zones = zones
        self.rule = rule
        self.budget = budget
        self.store = store
        self.order = SortOrder(query.sort)
        // A source without a filter has no values to compare.
        let interest = FieldsOfInterest(plan.filter.fields.union(query.sort.map(\.field)))
        self.interest = interest
        var cost = ComparisonCost(interest)
        cost.add(plan.filter)
        self.filterCost = cost
        self.desiredKeys = read.desiredKeys.map { Set($0) }
    }

    /// Fills the page, and returns where the next one starts, or `nil` if there is none.
    func fill(from position: QueryPosition.Order?) throws(QueryFailure) -> QueryPosition.Order? {
        switch (self.plan.order, position) {
        case (.source(let source), nil): return try self.readInOrder(of: source, from: nil)
        case (.source(let source), .source(let zone, let branch, let position)):
            let start = SourceStart(zone: zone, branch: branch, position: position)
            return try self.readInOrder(of: source, from: start)
        case (.collected(let source), nil): return try self.collect(source, behind: nil)
        case (.collected(let source), .sorted(let end)):
            return try self.collect(source, behind: self.checked(end))
        case (.index(let ranges, let hasOthers), nil):
            return try self.readByIndex(ranges, hasOthers: hasOthers, behind: nil)
        case (.index(let ranges, let hasOthers), .sorted(let end)):
            return try self.readByIndex(ranges, hasOthers: hasOthers, behind: self.checked(end))
        case (.source, .sorted), (.collected, .source), (.index, .source): throw .refused(.cursorInvalid)
        }
    }

    private func checked(_ end: SortEnd?) throws(QueryFailure) -> SortEnd? {
        guard let end else { return nil }
        let isWhole = end.keys.count == self.query.sort.count
        guard end.keys.count <= self.query.sort.count, isWhole || end.name == nil else {
            throw .refused(.cursorInvalid)
        }
        return end
    }

    /// All zones of the query, from a name on.
    func zones(from name: String) -> ZoneWalk {
        switch self.zones {
        case .one(let zone): ZoneWalk(zone, self.store)
        case .all(let database): ZoneWalk(of: database, from: name, self.store)
        }
    }

    // MARK: Candidates

    var isFull: Bool { !self.read.isCount && self.records.count >= self.read.limit }

    /// Number of records that still fit.
    var room: Int { self.read.limit - self.records.count }

    var isCount: Bool { self.read.isCount }

    /// Whether candidates count without their records being read.
    var countsUnseen: Bool { self.read.isCount && self.plan.filter == .all && self.rule == .all }

    func addToCount(_ count: Int) { self.count += Int64(count) }

    /// Reads a candidate.
    ///
    /// Returns `nil` if it does not belong to the query.
    func record(_ key: RecordKey) throws(QueryFailure) -> RecordValues? {
        guard let record = try self.candidate(key) else { return nil }
        let values = self.interest.values(of: record)
        try self.store.meter.countComparisons(self.filterCost.comparisons(with: values))
        return self.plan.filter.matches(values) ? values : nil
    }

    /// Reads a candidate without its fields.
    ///
    /// Returns `nil` if the requester may not read it.
    func candidate(_ key: RecordKey) throws(QueryFailure) -> NamedRecord? {
        guard let record = try self.store.record(key) else { return nil }
        switch self.rule {
        case .all: return record
        case .own(let creator): return record.stored.system.createdBy == creator ? record : nil
        case .shared(let access):
            let grant = try self.store.stored { (snapshot) throws(StorageFailure) in
                try snapshot.grant(of: key, access)
            }
            guard let grant else { return nil }
            guard grant.share.root == record.name else { return record }
            return NamedRecord(name: record.name, stored: record.stored.asRoot)
        case .none: return nil
        }
    }

    /// Adds a record.
    ///
    /// Returns `false` if its bytes do not fit.
    func add(_ record: NamedRecord, in zone: NamedZone) -> Bool {
        guard !self.read.isCount else {
            self.count += 1
            return true
        }
        let id = RecordID(zone: self.read.zone ?? ZoneID(zoneName: zone.name), recordName: record.name)
        let record = record.stored.record(id: id, keeping: self.desiredKeys)
        // A single record always fits, so that every page makes progress.
        let size = record.body.bytes.count
        guard self.records.isEmpty || self.bytes + size <= self.budget.answerBytesMax else { return false }
        self.bytes += size
        self.records.append(record)
        return true
    }
}
