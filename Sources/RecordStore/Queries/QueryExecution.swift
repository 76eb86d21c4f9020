import RecordModel
package import StorageContract

/// Executes one page of a query on a `Snapshot`.
package struct QueryExecution {
    private let read: QueryRead
    private let requester: Requester
    private let budget: QueryBudget
    private let store: QueryStore
    private let sink: any RecordSink

    /// Entries that a first page counts to choose a plan.
    private static let countedMax = 10_000
    /// Zones that it counts them in.
    private static let countedZonesMax = 8

    package init(
        _ read: QueryRead,
        for requester: Requester,
        budget: QueryBudget,
        snapshot: any Snapshot,
        into sink: any RecordSink
    ) {
        self.read = read
        self.sink = sink
        self.requester = requester
        self.budget = budget
        self.store = QueryStore(snapshot, meter: ReadMeter(budget))
    }

    package func page() throws(QueryFailure) -> QueryPageResult {
        do throws(StoreError) { try QueryCheck.checkIsOpen(self.read.query.recordType) } catch {
            throw .refused(error)
        }
        let zone = try self.zone()
        let rule = try self.rule(in: zone)
        let type = try self.recordType()
        let query = try self.checkedQuery(type)
        let position = try self.position()
        let planner = QueryPlanner(
            query,
            isCount: self.read.isCount,
            choices: Choices(known: position?.choices),
            countedMax: self.budget.countedMax
        ) { (source, limit) throws(QueryFailure) in
            try self.count(source, limit: limit, in: zone)
        }
        let (plan, choices) = try planner.plan()
        let page = QueryPage(
            self.read,
            query,
            plan,
            zones: zone.map { .one($0) } ?? .all(self.requester.database),
            rule: rule,
            budget: self.budget,
            store: self.store,
            into: self.sink
        )
        let signature = plan.signature
        if let position, position.signature != signature { throw .refused(.cursorExpired) }
        let end = rule == .none ? nil : try page.fill(from: position?.order)
        return QueryPageResult(
            recordCount: page.recordCount,
            count: page.count,
            resume: end.map { QueryPosition(choices: choices, signature: signature, order: $0).bytes },
            plan: plan,
            hiddenFields: type?.fieldsHidden(from: self.read.query) ?? [],
            entriesRead: self.store.meter.entriesRead,
            recordsRead: self.store.meter.recordsRead,
            comparisons: self.store.meter.comparisons
        )
    }

    private func zone() throws(QueryFailure) -> NamedZone? {
        guard let id = self.read.zone else { return nil }
        guard let name = Access.storedName(of: id, for: self.requester) else {
            throw .refused(.missing(id))
        }
        let key = try self.store.stored { (snapshot) throws(StorageFailure) in
            try snapshot.zone(named: name, in: self.requester.database)
        }
        guard let key else { throw .refused(.missing(id)) }
        return NamedZone(name: id.zoneName, key: key)
    }

    /// The records that the requester may find.
    ///
    /// In another user's zone they are the shared ones.
    private func rule(in zone: NamedZone?) throws(QueryFailure) -> ReadRule {
        guard self.requester.scope == .shared else {
            // Read in the snapshot: a role that is taken away counts from the next page on.
            let access = try self.store.stored { (snapshot) throws(StorageFailure) in
                try snapshot.access(toType: self.read.query.recordType, for: self.requester)
            }
            return access.readRule
        }
        guard let zone else { throw .refused(.zoneRequired) }
        let access = try self.store.stored { (snapshot) throws(StorageFailure) in
            try snapshot.sharedAccess(to: zone.key, of: self.requester.database)
        }
        guard !access.isEmpty else { throw .refused(.zoneMissing) }
        return .shared(access)
    }

    private func recordType() throws(QueryFailure) -> QueryableType? {
        try self.store.stored { (snapshot) throws(StorageFailure) in
            try snapshot.type(named: self.read.query.recordType, in: self.requester.environment)?.queryable
        }
    }

    private func checkedQuery(_ type: QueryableType?) throws(QueryFailure) -> CheckedQuery {
        do throws(StoreError) {
            return try QueryCheck.check(self.read.query, type: type)
        } catch {
            throw .refused(error)
        }
    }

    private func position() throws(QueryFailure) -> QueryPosition? {
        guard let bytes = self.read.resume else { return nil }
        do throws(StoreError) {
            return try QueryPosition(bytes)
        } catch {
            throw .refused(error)
        }
    }

    // MARK: Counting for the planner

    private func count(
        _ source: QuerySource,
        limit: Int,
        in zone: NamedZone?
    ) throws(QueryFailure) -> Int {
        var zones =
            zone.map { ZoneWalk($0, self.store) }
            ?? ZoneWalk(of: self.requester.database, from: "", self.store)
        var count = 0
        var zonesLeft = Self.countedZonesMax
        while count < limit, zonesLeft > 0, let next = try zones.next() {
            count += try self.count(source, limit: limit - count, in: next.key)
            zonesLeft -= 1
        }
        return count
    }

    private func count(_ source: QuerySource, limit: Int, in zone: ZoneKey) throws(QueryFailure) -> Int {
        switch source {
        case .numbers(let numbers): return try self.count(numbers, limit: limit, in: zone)
        case .ranges(let index, let ranges):
            var count = 0
            for range in ranges where count < limit {
                count += try self.count(range, of: index, limit: limit - count, in: zone)
            }
            return count
        case .branches(let branches):
            var count = 0
            for branch in branches where count < limit {
                count += try self.count(branch.source, limit: limit - count, in: zone)
            }
            return count
        }
    }

    private func count(_ source: NumberSource, limit: Int, in zone: ZoneKey) throws(QueryFailure) -> Int {
        switch source {
        case .value(let index, let value):
            return try self.count(.point(value), of: index, limit: limit, in: zone)
        case .any(let parts):
            var count = 0
            for part in parts where count < limit {
                count += try self.count(part, limit: limit - count, in: zone)
            }
            return count
        case .all(let parts):
            var least = limit
            for part in parts { least = min(least, try self.count(part, limit: least, in: zone)) }
            return least
        }
    }

    /// Once the bound is reached, all other sources count as large.
    private func count(
        _ range: EntryRange,
        of index: IndexUse,
        limit: Int,
        in zone: ZoneKey
    ) throws(QueryFailure) -> Int {
        guard limit > 0, self.store.meter.entriesRead < Self.countedMax else { return limit }
        return try self.store.countOfEntries(EntryScan(range, of: index.number, in: zone, limit: limit))
    }
}
