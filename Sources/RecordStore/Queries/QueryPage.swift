import RecordModel
import StorageContract

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
    private let sink: any RecordSink
    /// Whether every candidate belongs to the query, and the requester may read it.
    private let takesEveryCandidate: Bool
    /// The zone of the record that was added last.
    private var lastZone: ZoneKey?

    /// Damaged candidates: the conditions that they meet are unknown, so each comes once a page.
    private var damaged: Set<RecordKey> = []

    private(set) var recordCount = 0
    private(set) var count: Int64 = 0
    private var bytes = 0

    init(
        _ read: QueryRead,
        _ query: CheckedQuery,
        _ plan: QueryPlan,
        zones: Zones,
        rule: ReadRule,
        budget: QueryBudget,
        store: QueryStore,
        into sink: any RecordSink
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
        self.sink = sink
        self.takesEveryCandidate = plan.filter == .all && rule == .all
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

    var isFull: Bool { !self.read.isCount && self.recordCount >= self.read.limit }

    /// Number of records that still fit.
    var room: Int { self.read.limit - self.recordCount }

    var isCount: Bool { self.read.isCount }

    /// Whether candidates count without their records being read.
    var countsUnseen: Bool { self.read.isCount && self.takesEveryCandidate }

    /// Whether candidates are added where they are read, without reading their fields.
    var addsUnseen: Bool { !self.read.isCount && self.takesEveryCandidate }

    func addToCount(_ count: Int) { self.count += Int64(count) }

    /// Reads a candidate.
    ///
    /// Returns `nil` if it does not belong to the query.
    func record(_ listed: ListedRecord, in zone: NamedZone) throws(QueryFailure) -> RecordValues? {
        let key = RecordKey(zone: zone.key, number: listed.number)
        guard let record = try self.candidate(listed, in: zone) else { return nil }
        guard !record.stored.isDamaged else {
            let id = RecordID(zone: self.id(of: zone), recordName: record.name)
            guard !self.isCount, !self.sink.readsFields else { throw .refused(.recordDamaged(id)) }
            self.sink.note(damaged: id)
            return self.damaged.insert(key).inserted ? .damaged(record) : nil
        }
        let values = self.interest.values(of: record)
        try self.store.meter.countComparisons(self.filterCost.comparisons(with: values))
        return self.plan.filter.matches(values) ? values : nil
    }

    /// Reads a candidate without its fields.
    ///
    /// Returns `nil` if the requester may not read it.
    func candidate(_ listed: ListedRecord, in zone: NamedZone) throws(QueryFailure) -> NamedRecord? {
        guard let record = try self.store.record(listed) else { return nil }
        switch self.rule {
        case .all: return record
        case .own(let creator): return record.stored.system.createdBy == creator ? record : nil
        case .shared(let access):
            let key = RecordKey(zone: zone.key, number: listed.number)
            let grant = try self.store.stored { (snapshot) throws(StorageFailure) in
                try snapshot.grant(of: key, access)
            }
            guard let grant else { return nil }
            guard ExactName.areSame(grant.share.root, record.name) else { return record }
            return NamedRecord(name: record.name, stored: record.stored.asRoot)
        case .none: return nil
        }
    }

    // MARK: Adding

    /// Adds a record.
    ///
    /// Returns `false` if its bytes do not fit.
    func add(_ record: NamedRecord, in zone: NamedZone) throws(QueryFailure) -> Bool {
        guard !self.read.isCount else {
            self.count += 1
            return true
        }
        let id = RecordID(zone: self.id(of: zone), recordName: record.name)
        return try record.stored.record(id: id).lentThrowing { (record) throws(QueryFailure) in
            try self.add(record, in: zone)
        }
    }

    /// Adds a candidate as the engine has it.
    ///
    /// Returns `left` if its bytes do not fit.
    func addUnseen(_ listed: ListedRecord, in zone: NamedZone) throws(QueryFailure) -> CandidateFate {
        var result: Result<Bool, QueryFailure> = .success(true)
        _ = try self.store.visit(listed) { record in
            result = Result { () throws(QueryFailure) in try self.add(record, in: zone) }
            return true
        }
        return try result.get() ? .taken : .left
    }

    private func add(_ record: borrowing LentRecord, in zone: NamedZone) throws(QueryFailure) -> Bool {
        if let desiredKeys {
            if let isAdded = record.keeping(desiredKeys, { self.addWhole($0, in: zone) }) { return isAdded }
        } else if !self.sink.readsFields || record.isIntact {
            return self.addWhole(record, in: zone)
        }
        let id = RecordID(
            zone: self.id(of: zone),
            recordName: String(decoding: record.name, as: UTF8.self)
        )
        guard !self.sink.readsFields else { throw .refused(.recordDamaged(id)) }
        guard record.unreadable({ self.addWhole($0, in: zone) }) else { return false }
        self.sink.note(damaged: id)
        return true
    }

    private func addWhole(_ record: borrowing LentRecord, in zone: NamedZone) -> Bool {
        // A single record always fits, so that every page makes progress.
        let size = record.fields.count
        guard self.recordCount == 0 || self.bytes + size <= self.budget.responseBytesMax else { return false }
        self.bytes += size
        self.recordCount += 1
        self.enter(zone)
        self.sink.add(record)
        return true
    }

    private func enter(_ zone: NamedZone) {
        guard self.lastZone != zone.key else { return }
        self.lastZone = zone.key
        self.sink.enter(self.id(of: zone))
    }

    private func id(of zone: NamedZone) -> ZoneID { self.read.zone ?? ZoneID(zoneName: zone.name) }
}
