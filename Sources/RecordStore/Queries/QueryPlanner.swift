import StorageContract

/// Chooses the source of a query's candidates.
///
/// Of several conditions that must all hold, the one with the smallest source is read. Sizes are
/// measured by counting entries up to a bound. A choice is made once per query. Its number travels
/// in the position, so that later pages read the same source in the same order.
struct QueryPlanner {
    private let query: CheckedQuery
    private let isCount: Bool
    private let choices: Choices
    private let count: (QuerySource, Int) throws(QueryFailure) -> Int
    /// Entries that are counted per candidate.
    ///
    /// A source with as many is too large to be sorted.
    private let countedMax: Int

    /// Values that are read in parallel, each as a list of its own.
    static let listsMax = 32
    /// Up to this number, candidates are read and filtered rather than intersected with others.
    private static let filteredMax = 32

    /// `choices` are those of the first page.
    ///
    /// `count` counts the entries of a source, up to a bound.
    init(
        _ query: CheckedQuery,
        isCount: Bool,
        choices: Choices,
        countedMax: Int,
        count: @escaping (QuerySource, Int) throws(QueryFailure) -> Int
    ) {
        self.query = query
        self.isCount = isCount
        self.choices = choices
        self.countedMax = countedMax
        self.count = count
    }

    /// Returns the plan, and the choices that led to it.
    func plan() throws(QueryFailure) -> (plan: QueryPlan, choices: [Int]) {
        let predicate = self.query.predicate
        if predicate == .nothing {
            return (QueryPlan(order: .source(.nothing), filter: .all), [])
        }
        let best = try self.candidate(for: predicate)
        let listing = QuerySource.ranges(self.query.listing, [.all])
        let filter: CheckedPredicate = best?.isExact == true ? .all : predicate
        if self.query.sort.isEmpty || self.isCount {
            return (QueryPlan(order: .source(best?.source ?? listing), filter: filter), self.choices.made)
        }
        if let order = try self.orderOfIndex(best) {
            // Conditions that only limit the range need not be tested again.
            guard case .index = order, let index = self.query.sort.first?.index,
                case .ranges(index, _) = best?.source
            else { return (QueryPlan(order: order, filter: predicate), self.choices.made) }
            return (QueryPlan(order: order, filter: filter), self.choices.made)
        }
        return (QueryPlan(order: .collected(best?.source ?? listing), filter: filter), self.choices.made)
    }

    // MARK: Order

    /// The part of the first sort key's index to read, or `nil` if it is better or necessary to
    /// collect.
    private func orderOfIndex(_ best: Candidate?) throws(QueryFailure) -> QueryPlan.Order? {
        guard let first = self.query.sort.first else { return nil }
        var ranges = [EntryRange.all]
        var isLimited = first.isAlwaysPresent
        for case .test(let test) in self.query.predicate.conjuncts
        where test.index == first.index && !test.isNegated {
            guard let found = ConditionRanges(test) else { continue }
            isLimited = true
            switch found.shape {
            case .ranges(let limits): ranges = EntryRange.intersection(ranges, limits)
            case .any(let values): ranges = EntryRange.intersection(ranges, values.map { .point($0) })
            case .all: continue
            }
        }
        // No index is ordered by distance. That also rules out records without the first field, if
        // a later key is a distance.
        let ordered = isLimited ? self.query.sort.prefix(1) : self.query.sort[...]
        guard ordered.allSatisfy({ $0.origin == nil }) else { return nil }
        guard let best, case .ranges(first.index, _) = best.source else {
            let isFew = try self.choices.choose(of: 2) { () throws(QueryFailure) in
                guard let best else { return 1 }
                return try self.count(best.source, self.countedMax) < self.countedMax ? 0 : 1
            }
            return isFew == 0 ? nil : .index(firstRanges: ranges, hasOthers: !isLimited)
        }
        return .index(firstRanges: ranges, hasOthers: !isLimited)
    }

    // MARK: Candidates

    /// A source with all records that meet a condition.
    private struct Candidate {
        var source: QuerySource
        /// Whether it has no other records.
        var isExact: Bool
        /// Indexes of the conjuncts that it decides.
        var decided: Set<Int> = []

        var numbers: NumberSource? {
            guard case .numbers(let numbers) = self.source else { return nil }
            return numbers
        }
    }

    private func candidate(for predicate: CheckedPredicate) throws(QueryFailure) -> Candidate? {
        switch predicate {
        case .all: return nil
        case .nothing: return Candidate(source: .nothing, isExact: true)
        case .test(let test): return Self.candidate(for: test)
        case .and(let parts): return try self.candidate(forAll: parts)
        case .or(let parts): return try self.candidate(forAny: parts)
        }
    }

    private static func candidate(for test: FieldTest) -> Candidate? {
        guard let index = test.index, let found = ConditionRanges(test) else { return nil }
        switch found.shape {
        case .ranges(let ranges):
            // A record may have several entries here, so its value has to be tested.
            return Candidate(
                source: .ranges(index, ranges),
                isExact: found.isExact && !index.isMany,
                decided: []
            )
        case .any(let values):
            guard values.count <= self.listsMax else {
                return Candidate(
                    source: .ranges(index, values.map { .point($0) }),
                    isExact: found.isExact && !index.isMany
                )
            }
            let lists = values.map { NumberSource.value(index, $0) }
            let source = lists.count == 1 ? lists[0] : .any(lists)
            return Candidate(source: .numbers(source), isExact: found.isExact)
        case .all(let values):
            let lists = values.prefix(self.listsMax).map { NumberSource.value(index, $0) }
            let source = lists.count == 1 ? lists[0] : .all(lists)
            return Candidate(
                source: .numbers(source),
                isExact: found.isExact && lists.count == values.count
            )
        }
    }

    private func candidate(
        forAll parts: [CheckedPredicate]
    ) throws(QueryFailure) -> Candidate? {
        var candidates: [Candidate] = []
        for (part, predicate) in parts.enumerated() {
            guard var found = try self.candidate(for: predicate) else { continue }
            if found.isExact { found.decided = [part] }
            Self.add(found, to: &candidates)
        }
        guard !candidates.isEmpty else { return nil }
        let intersection = Self.intersection(of: candidates)
        let options = candidates.count + (intersection == nil ? 0 : 1)
        let choice =
            options == 1
            ? 0
            : try self.choices.choose(of: options) { () throws(QueryFailure) in
                try self.preferred(candidates, intersection)
            }
        var chosen = choice < candidates.count ? candidates[choice] : intersection ?? candidates[0]
        chosen.isExact = chosen.decided.count == parts.count
        chosen.decided = []
        return chosen
    }

    /// Adds a candidate, and merges two ranges of one index into one.
    private static func add(_ candidate: Candidate, to candidates: inout [Candidate]) {
        if case .ranges(let index, let ranges) = candidate.source, !index.isMany {
            for (position, other) in candidates.enumerated() {
                guard case .ranges(index, let others) = other.source else { continue }
                let common = EntryRange.intersection(others, ranges)
                candidates[position].source = .ranges(index, common)
                candidates[position].decided.formUnion(candidate.decided)
                return
            }
        }
        candidates.append(candidate)
    }

    private static func intersection(of candidates: [Candidate]) -> Candidate? {
        var lists: [NumberSource] = []
        var decided: Set<Int> = []
        var listCount = 0
        for candidate in candidates {
            guard let numbers = candidate.numbers, listCount + numbers.listCount <= self.listsMax else {
                continue
            }
            listCount += numbers.listCount
            lists.append(numbers)
            decided.formUnion(candidate.decided)
        }
        guard lists.count > 1 else { return nil }
        return Candidate(source: .numbers(.all(lists)), isExact: false, decided: decided)
    }

    /// Index of the candidate to read.
    ///
    /// The index after the last one stands for the intersection.
    private func preferred(
        _ candidates: [Candidate],
        _ intersection: Candidate?
    ) throws(QueryFailure) -> Int {
        if intersection != nil, candidates.allSatisfy({ $0.numbers != nil }) {
            // It only matters whether one of them is small.
            for position in candidates.indices where !self.isCount {
                let entries = try self.count(candidates[position].source, Self.filteredMax + 1)
                if entries <= Self.filteredMax { return position }
            }
            return candidates.count
        }
        var best = 0
        var fewest = Int.max
        for position in candidates.indices {
            let limit = min(self.countedMax, fewest)
            let entries = try self.count(candidates[position].source, limit)
            // Of equal candidates, prefer one that can be intersected.
            let isBetter =
                entries < fewest
                || (entries == fewest && candidates[best].numbers == nil
                    && candidates[position].numbers != nil)
            if isBetter { (best, fewest) = (position, min(entries, self.countedMax)) }
        }
        guard intersection != nil, candidates[best].numbers != nil else { return best }
        return self.isCount || fewest > Self.filteredMax ? candidates.count : best
    }

    /// The source of an `or`: `nil` unless every branch has one.
    private func candidate(
        forAny parts: [CheckedPredicate]
    ) throws(QueryFailure) -> Candidate? {
        var branches: [QuerySource.Branch] = []
        var numbers: [NumberSource] = []
        var isExact = true
        for part in parts {
            guard let found = try self.candidate(for: part) else { return nil }
            isExact = isExact && found.isExact
            if let lists = found.numbers { numbers.append(lists) }
            if case .branches(let inner) = found.source {
                branches += inner.map { branch in
                    QuerySource.Branch(source: branch.source, condition: .and([part, branch.condition]))
                }
            } else {
                branches.append(QuerySource.Branch(source: found.source, condition: part))
            }
        }
        let lists = NumberSource.any(numbers)
        if numbers.count == parts.count, lists.listCount <= Self.listsMax {
            return Candidate(source: .numbers(lists), isExact: isExact)
        }
        return Candidate(source: .branches(branches), isExact: false)
    }
}

/// The decisions of a planner: made on the first page, replayed on later ones.
final class Choices {
    private(set) var made: [Int] = []
    private let known: [Int]?

    /// `known` is `nil` on the first page.
    init(known: [Int]?) {
        self.known = known
    }

    var isReplayed: Bool { self.known != nil }

    func choose(
        of count: Int,
        _ decide: () throws(QueryFailure) -> Int
    ) throws(QueryFailure) -> Int {
        guard let known = self.known else {
            let choice = try decide()
            self.made.append(choice)
            return choice
        }
        guard self.made.count < known.count, (0..<count).contains(known[self.made.count]) else {
            throw .refused(.cursorInvalid)
        }
        self.made.append(known[self.made.count])
        return known[self.made.count - 1]
    }
}
