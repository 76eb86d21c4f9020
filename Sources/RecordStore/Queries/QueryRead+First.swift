import RecordModel
import StorageContract

/// What a query reads first, as a value: the first list of its plan, or the first count that its planner
/// asks for.
///
/// Zone and type are what the engine knows. If they are something else by now, the query reads another
/// list, when it is executed.
extension QueryRead {
    func firstReads(
        for requester: Requester,
        _ budget: QueryBudget,
        _ known: any KnownRows
    ) -> [SnapshotRead] {
        let position = self.resume.flatMap { try? QueryPosition($0) }
        guard self.resume == nil || position != nil else { return [] }
        guard let id = self.zone else {
            if case .source = position?.order { return [] }
            return [ZoneWalk.firstRead(of: requester.database)]
        }
        guard let name = Access.storedName(of: id, for: requester),
            let zone = known.zone(named: name, in: requester.database),
            let type = known.type(named: self.query.recordType, in: requester.environment),
            let query = try? QueryCheck.check(self.query, type: type.queryable)
        else { return [] }
        let (rule, readsOfRule) = Self.rule(of: type, in: zone, named: self.query.recordType, requester)
        var count: SnapshotRead?
        let planner = QueryPlanner(
            query,
            isCount: self.isCount,
            choices: Choices(known: position?.choices),
            countedMax: budget.countedMax
        ) { (source, limit) in
            // The plan is of no use then: the count decides it.
            if count == nil, let (index, range) = source.firstRange {
                count = .countOfEntries(EntryScan(range, of: index.number, in: zone, limit: limit))
            }
            return 0
        }
        guard let plan = try? planner.plan().plan else { return readsOfRule }
        if let count { return readsOfRule + [count] }
        let first = FirstList(read: self, query: query, plan: plan, rule: rule, zone: zone, budget: budget)
        return readsOfRule + first.reads(from: position?.order)
    }

    /// Which records the requester may find, as far as it is known, and what else tells.
    private static func rule(
        of type: StoredType,
        in zone: ZoneKey,
        named name: String,
        _ requester: Requester
    ) -> (rule: ReadRule?, reads: [SnapshotRead]) {
        switch requester.scope {
        case .private: return (.all, [])
        case .shared: return (nil, [SharedAccess.firstRead(in: zone)])
        case .public:
            let grants = SchemaRules.grantsInForce(type.grants, ofType: name)
            if let user = requester.userRecordName, grants.nameCustomRoles {
                return (nil, [.row(UserRow.byRecordName, user)])
            }
            return (TypeAccess(grants: grants, roles: [], requester: requester).readRule, [])
        }
    }
}

/// The list of a plan that a page in one zone reads first.
private struct FirstList {
    let read: QueryRead
    let query: CheckedQuery
    let plan: QueryPlan
    /// `nil` if it is not known.
    let rule: ReadRule?
    let zone: ZoneKey
    let budget: QueryBudget

    func reads(from order: QueryPosition.Order?) -> [SnapshotRead] {
        switch (self.plan.order, order) {
        case (.source(let source), nil): return self.reads(of: source, 0, from: .start, sorts: false)
        case (.source(let source), .source(_, let branch, let point)):
            return self.reads(of: source, branch, from: point, sorts: false)
        case (.collected(let source), _): return self.reads(of: source, 0, from: .start, sorts: true)
        case (.index(let ranges, _), nil): return self.reads(of: ranges, behind: nil)
        case (.index(let ranges, _), .sorted(let end)): return self.reads(of: ranges, behind: end)
        case (.source, .sorted), (.index, .source): return []
        }
    }

    private func reads(of firstRanges: [EntryRange], behind end: SortEnd?) -> [SnapshotRead] {
        let phase = self.query.firstPhase(behind: end)
        let ranges = phase == 0 ? firstRanges : [.all]
        guard phase <= self.query.sort.count else { return [] }
        return self.query.pieces(
            ofPhase: phase,
            ranges,
            in: self.zone,
            behind: end,
            room: self.read.limit
        ).firstReads
    }

    private func reads(
        of source: QuerySource,
        _ branch: Int,
        from point: QueryPosition.Point,
        sorts: Bool
    ) -> [SnapshotRead] {
        if case .branches(let parts) = source {
            guard parts.indices.contains(branch) else { return [] }
            return self.reads(of: parts[branch].source, 0, from: point, sorts: sorts)
        }
        let takesEveryCandidate = self.plan.filter == .all && self.rule == .all
        if self.read.isCount, takesEveryCandidate, let (index, ranges) = source.countableRanges {
            let scans = QueryPage.countedScans(of: ranges, index, in: self.zone, behind: point)
            return scans.prefix(1).map { scan in
                var scan = scan
                scan.limit = ReadMeter(self.budget).left
                return .countOfEntries(scan)
            }
        }
        switch source {
        case .branches: return []
        case .ranges(let index, let ranges):
            return EntryPieces(
                index,
                in: self.zone,
                ranges: ranges,
                after: point.lastEntry,
                size: self.read.isCount ? .max : self.read.limit + 1
            ).firstReads
        case .numbers(let numbers):
            guard let number = point.nextNumber else { return [] }
            guard case .value(let index, let value) = numbers else {
                return numbers.firstLists.map { (index, value) in
                    .numbers(NumberList.scan(value, of: index, in: self.zone, from: number))
                }
            }
            let scan = NumberList.scan(
                value,
                of: index,
                in: self.zone,
                from: number,
                size: NumberList.size(room: self.read.isCount || sorts ? nil : self.read.limit + 1),
                hasRecords: true
            )
            return [.numbers(scan)]
        }
    }
}

extension EntryPieces {
    fileprivate var firstReads: [SnapshotRead] {
        self.next.map { [.entries($0)] } ?? []
    }
}

extension QuerySource {
    /// The range with the entries that a planner counts first.
    fileprivate var firstRange: (IndexUse, EntryRange)? {
        switch self {
        case .numbers(let numbers): numbers.firstLists.first.map { ($0, .point($1)) }
        case .ranges(let index, let ranges): ranges.first.map { (index, $0) }
        case .branches(let branches): branches.first?.source.firstRange
        }
    }
}

extension NumberSource {
    /// The lists that are read from the number at which a page begins: all that are merged, and the first
    /// of those that are intersected.
    fileprivate var firstLists: [(IndexUse, [UInt8])] {
        switch self {
        case .value(let index, let value): [(index, value)]
        case .any(let parts): parts.flatMap(\.firstLists)
        case .all(let parts): parts.first?.firstLists ?? []
        }
    }
}
