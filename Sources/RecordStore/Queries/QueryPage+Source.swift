import StorageContract

/// The start of a page in the order of a source.
struct SourceStart {
    var zone: String
    var branch: Int
    var position: QueryPosition.Point
}

/// The result for a candidate.
enum CandidateFate {
    case taken
    /// It does not fit, and is left for the next page.
    case left
}

/// Pages in the order of their source, and records collected from a source.
extension QueryPage {
    func readInOrder(
        of source: QuerySource,
        from start: SourceStart?
    ) throws(QueryFailure) -> QueryPosition.Order? {
        try self.walk(source, from: start, nil)
    }

    /// Fills the page with the first records, in sort order, of all candidates.
    func collect(
        _ source: QuerySource,
        behind end: SortEnd?
    ) throws(QueryFailure) -> QueryPosition.Order? {
        self.store.meter.isHeld = true
        var first = FirstOfOrder(self.order, countMax: self.room + 1)
        var zones: [String: NamedZone] = [:]
        _ = try self.walk(source, from: nil) { (values, zone) in
            let position = self.order.position(of: values, in: zone.name)
            guard end.map({ self.order.isBehind(position, $0) }) ?? true else { return .taken }
            zones[zone.name] = zone
            first.add(.init(position: position, number: values.record.stored.number, record: values.record))
            return .taken
        }
        return try self.add(first.sorted(), in: zones).map { .sorted($0 ?? end) }
    }

    /// Adds sorted records.
    ///
    /// Returns `nil` if all fit. Otherwise returns where the page ends among them; the inner value is
    /// `nil` if it ends before the first.
    func add(
        _ sorted: [FirstOfOrder.Candidate],
        in zones: [String: NamedZone]
    ) throws(QueryFailure) -> SortEnd?? {
        // Those that took too much memory are read again.
        let left = Dictionary(grouping: sorted.lazy.filter { $0.record == nil }, by: \.position.zone)
        let lists = left.compactMapValues { candidates in
            zones[candidates[0].position.zone].map { zone in
                self.store.records(numbered: candidates.map(\.number), in: zone.key)
            }
        }
        var read: [String: Int] = [:]
        var last: SortEnd?
        for candidate in sorted {
            let name = candidate.position.zone
            guard !self.isFull, let zone = zones[name] else { return .some(last) }
            var record = candidate.record
            if record == nil, let records = lists[name] {
                let offset = read[name, default: 0]
                read[name] = offset + 1
                record = try self.store.record(
                    ListedRecord(number: candidate.number, offset: offset, records: records)
                )
            }
            if let record, try !self.add(record, in: zone) { return .some(last) }
            last = SortEnd(candidate.position)
        }
        return nil
    }

    /// Takes a record of the query from a walk; a walk without it adds the record to the page.
    private typealias Take = (RecordValues, NamedZone) -> CandidateFate

    /// Passes every record of a source that belongs to the query to `take`, until one does not fit
    /// or the page has read enough.
    ///
    /// Returns where to continue.
    private func walk(
        _ source: QuerySource,
        from start: SourceStart?,
        _ take: Take?
    ) throws(QueryFailure) -> QueryPosition.Order? {
        var branches = [QuerySource.Branch(source: source, condition: .all)]
        if case .branches(let parts) = source { branches = parts }
        guard !branches.isEmpty else { return nil }
        let costs = self.costs(of: branches)
        var zones = self.zones(from: start?.zone ?? "")
        var start = start
        while let zone = try zones.next() {
            // If the zone was deleted meanwhile, all following zones come after it.
            var position = start?.zone == zone.name ? start?.position ?? .start : .start
            let first = start?.zone == zone.name ? start?.branch ?? 0 : 0
            start = nil
            for number in branches.indices.dropFirst(first) {
                if self.store.meter.isUsedUp { return .source(zone: zone.name, branch: number, position) }
                let walk = BranchWalk(
                    zone: zone,
                    source: branches[number].source,
                    condition: branches[number].condition,
                    earlier: branches[..<number].map(\.condition),
                    cost: costs[number]
                )
                if let end = try self.walk(walk, from: position, take) {
                    return .source(zone: zone.name, branch: number, end)
                }
                position = .start
            }
            if self.store.meter.isUsedUp {
                return .source(zone: zone.name, branch: branches.count, .start)
            }
        }
        return nil
    }

    private struct BranchWalk {
        var zone: NamedZone
        var source: QuerySource
        /// The condition of the branch's records.
        ///
        /// Its candidates may fail it.
        var condition: CheckedPredicate
        /// A record that meets one of these was found by an earlier branch.
        var earlier: [CheckedPredicate]
        /// Cost of testing all these conditions.
        var cost: ComparisonCost
        /// Whether there is nothing to test.
        let isUnconditional: Bool

        init(
            zone: NamedZone,
            source: QuerySource,
            condition: CheckedPredicate,
            earlier: [CheckedPredicate],
            cost: ComparisonCost
        ) {
            self.zone = zone
            self.source = source
            self.condition = condition
            self.earlier = earlier
            self.cost = cost
            self.isUnconditional = condition == .all && earlier.isEmpty
        }
    }

    /// The cost of each branch, including the conditions of those before it.
    private func costs(of branches: [QuerySource.Branch]) -> [ComparisonCost] {
        var cost = ComparisonCost(self.interest)
        return branches.map { branch in
            cost.add(branch.condition)
            var own = cost
            if case .ranges(let index, let ranges) = branch.source, index.isMany {
                own.add(index, rangeCount: ranges.count)
            }
            return own
        }
    }

    /// Returns where to continue in the branch, or `nil` at its end.
    private func walk(
        _ walk: BranchWalk,
        from position: QueryPosition.Point,
        _ take: Take?
    ) throws(QueryFailure) -> QueryPosition.Point? {
        if self.countsUnseen, let (index, ranges) = walk.source.countableRanges {
            return try self.count(ranges, of: index, in: walk.zone, behind: position)
        }
        switch walk.source {
        case .numbers(let numbers):
            guard let from = position.nextNumber else { throw .refused(.cursorInvalid) }
            return try self.walk(numbers, walk, from: from, take)
        case .ranges(let index, let ranges):
            return try self.walk(index, ranges, walk, from: position, take)
        // The planner flattens nested alternatives.
        case .branches: return nil
        }
    }

    private func walk(
        _ numbers: NumberSource,
        _ walk: BranchWalk,
        from start: Int64,
        _ take: Take?
    ) throws(QueryFailure) -> QueryPosition.Point? {
        guard !self.countsUnseen else { return try self.count(numbers, in: walk.zone, from: start) }
        let room = self.readsAll(take) ? nil : self.room + 1
        let candidates = NumberedCandidates(numbers, in: walk.zone.key, room: room, self.store)
        var next = start
        while true {
            switch try candidates.next(from: next) {
            case .end: return nil
            case .paused(let position): return .number(position ?? next)
            case .found(let number):
                // Only this record shows that there is another page.
                if self.isFull { return .number(number) }
                guard let record = candidates.record else { return nil }
                if try self.offer(record, walk, take) == .left { return .number(number) }
                guard number < .max else { return nil }
                next = number + 1
                if self.store.meter.isUsedUp { return .number(next) }
            }
        }
    }

    /// Whether every record of a walk is read: a count, or a page that sorts.
    private func readsAll(_ take: Take?) -> Bool { self.isCount || take != nil }

    private func walk(
        _ index: IndexUse,
        _ ranges: [EntryRange],
        _ walk: BranchWalk,
        from start: QueryPosition.Point,
        _ take: Take?
    ) throws(QueryFailure) -> QueryPosition.Point? {
        guard start.nextNumber == nil || start == .start else { throw .refused(.cursorInvalid) }
        let pieces = EntryPieces(
            index,
            in: walk.zone.key,
            ranges: ranges,
            after: start.lastEntry,
            size: self.isCount ? .max : self.room + 1
        )
        let cursor = EntryCursor(pieces, self.store)
        var last = start
        while true {
            switch try cursor.next() {
            case .end: return nil
            case .paused: return last
            case .found(let entry):
                if self.isFull { return last }
                guard let record = cursor.record else { return nil }
                let many = index.isMany ? ManyEntries(index: index, ranges: ranges, entry: entry) : nil
                if try self.offer(record, walk, many: many, take) == .left { return last }
                last = .entry(entry)
                if self.store.meter.isUsedUp { return last }
            }
        }
    }

    /// An entry of an index that may have several per record.
    private struct ManyEntries {
        var index: IndexUse
        var ranges: [EntryRange]
        var entry: EntryPosition

        /// Whether this is the entry with which the record is found.
        ///
        /// It is found once.
        func isFirst(of values: RecordValues) -> Bool {
            let all = values.entries(in: self.index)
            let inRange = all.filter { value in self.ranges.contains { $0.contains(value) } }
            return inRange.min { $0.precedes($1) } == self.entry.value
        }
    }

    private func offer(
        _ listed: ListedRecord,
        _ walk: BranchWalk,
        many: ManyEntries? = nil,
        _ take: Take?
    ) throws(QueryFailure) -> CandidateFate {
        if self.store.meter.recordsRead >= self.budget.collectedMax || self.store.meter.isTooBroad {
            throw .refused(.queryTooBroad)
        }
        if take == nil, many == nil, walk.isUnconditional, self.addsUnseen {
            return try self.addUnseen(listed, in: walk.zone)
        }
        guard let values = try self.record(listed, in: walk.zone) else { return .taken }
        try self.store.meter.countComparisons(walk.cost.comparisons(with: values))
        guard
            values.isDamaged
                || (many?.isFirst(of: values) ?? true && walk.condition.matches(values)
                    && !walk.earlier.contains(where: { $0.matches(values) }))
        else { return .taken }
        guard let take else { return try self.add(values.record, in: walk.zone) ? .taken : .left }
        return take(values, walk.zone)
    }

    // MARK: Counting

    /// Counts the numbers of several lists without reading their records.
    private func count(
        _ numbers: NumberSource,
        in zone: NamedZone,
        from start: Int64
    ) throws(QueryFailure) -> QueryPosition.Point? {
        let cursor = NumberCursor(numbers, in: zone.key, self.store)
        var next = start
        while true {
            switch try cursor.next(from: next) {
            case .end: return nil
            case .paused(let position): return .number(position ?? next)
            case .found(let number):
                self.addToCount(1)
                guard number < .max else { return nil }
                next = number + 1
                if self.store.meter.isUsedUp { return .number(next) }
            }
        }
    }

    /// Counts entries without reading their records; each is a record of the query.
    private func count(
        _ ranges: [EntryRange],
        of index: IndexUse,
        in zone: NamedZone,
        behind start: QueryPosition.Point
    ) throws(QueryFailure) -> QueryPosition.Point? {
        guard start.nextNumber == nil || start == .start else { throw .refused(.cursorInvalid) }
        var last = start
        for var scan in Self.countedScans(of: ranges, index, in: zone.key, behind: start) {
            if self.store.meter.isUsedUp { return last }
            scan.limit = self.store.meter.left
            let counted = try self.store.countOfEntries(scan)
            self.addToCount(counted)
            guard counted == scan.limit else { continue }
            (scan.offset, scan.limit) = (counted - 1, 1)
            guard let entry = try self.store.entries(scan).elements.first else { continue }
            last = .entry(entry)
            return last
        }
        return nil
    }

    /// The scans with which a page counts the entries of ranges, behind the end of another.
    static func countedScans(
        of ranges: [EntryRange],
        _ index: IndexUse,
        in zone: ZoneKey,
        behind start: QueryPosition.Point
    ) -> [EntryScan] {
        ranges.compactMap { range in
            var scan = EntryScan(range, of: index.number, in: zone)
            guard let after = start.lastEntry else { return scan }
            if let upper = range.upper, !after.value.precedes(upper) { return nil }
            if range.contains(after.value) { scan.after = after }
            return scan
        }
    }
}

extension QueryPosition.Point {
    var nextNumber: Int64? {
        switch self {
        case .start: 0
        case .number(let number): number
        case .entry: nil
        }
    }

    var lastEntry: EntryPosition? {
        guard case .entry(let entry) = self else { return nil }
        return entry
    }
}

extension QuerySource {
    /// Ranges in which each entry is of a different record.
    var countableRanges: (IndexUse, [EntryRange])? {
        switch self {
        case .ranges(let index, let ranges): index.isMany ? nil : (index, ranges)
        case .numbers(.value(let index, let value)): (index, [.point(value)])
        case .numbers, .branches: nil
        }
    }
}
