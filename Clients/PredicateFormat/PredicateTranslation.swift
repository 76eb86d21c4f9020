package import RecordModel

extension Predicate {
    /// Makes the predicate of a query, by CloudKit's rules.
    ///
    /// `OR` is accepted, beyond CloudKit. A negation becomes the opposite comparator; De Morgan's
    /// laws are not applied.
    ///
    /// - Parameters:
    ///   - syntax: The user's predicate, nested no deeper than about `PredicateSyntax.nestingMax`.
    ///   - nowSeconds: The value of `now()`, in seconds since 2001-01-01T00:00:00Z.
    /// - Throws: `PredicateFailure.unsupported`.
    /// - Source: Apple, *CKQuery*, "Predicate Rules for Query Objects" and "Supported Predicate
    ///   Operators".
    package init(_ syntax: PredicateSyntax, nowSeconds: Double) throws(PredicateFailure) {
        do throws(Refusal) {
            var translation = PredicateTranslation(nowSeconds: nowSeconds)
            self = try translation.predicate(syntax)
            guard self.levels <= Bounds.predicateDepthMax else {
                throw Refusal("more than \(Bounds.predicateDepthMax) levels")
            }
        } catch {
            throw .unsupported(predicate: syntax.printed, problem: error.text)
        }
    }

    /// Number of levels.
    ///
    /// A comparison is one.
    fileprivate var levels: Int {
        switch self {
        case .all, .nothing, .comparison: 1
        case .and(let parts), .or(let parts): 1 + (parts.lazy.map(\.levels).max() ?? 0)
        }
    }
}

/// Why CloudKit does not support a predicate.
struct Refusal: Error {
    var text: String

    init(_ text: String) {
        self.text = text
    }
}

/// The state of one translation from syntax to model.
struct PredicateTranslation {
    let nowSeconds: Double
    private var comparisons = 0
    private var elements = 0

    init(nowSeconds: Double) {
        self.nowSeconds = nowSeconds
    }

    mutating func predicate(_ syntax: PredicateSyntax) throws(Refusal) -> Predicate {
        switch syntax {
        case .value(let value): return value ? .all : .nothing
        case .comparison(let comparison): return try self.comparison(comparison)
        case .and(let parts): return .all(of: try self.predicates(parts))
        case .or(let parts): return .any(of: try self.predicates(parts))
        case .not(let part): return try self.predicate(part).negated()
        }
    }

    private mutating func predicates(_ parts: [PredicateSyntax]) throws(Refusal) -> [Predicate] {
        var predicates: [Predicate] = []
        predicates.reserveCapacity(parts.count)
        for part in parts { predicates.append(try self.predicate(part)) }
        return predicates
    }

    mutating func count(elements: Int) throws(Refusal) {
        self.elements += elements
        guard self.elements <= Bounds.operandElementsMax else {
            throw Refusal("more than \(Bounds.operandElementsMax) elements in lists")
        }
    }

    private mutating func count(comparisons: Int) throws(Refusal) {
        self.comparisons += comparisons
        guard self.comparisons <= Bounds.comparisonsMax else {
            throw Refusal("more than \(Bounds.comparisonsMax) comparisons")
        }
    }

    private mutating func comparison(_ comparison: ComparisonSyntax) throws(Refusal) -> Predicate {
        try self.count(comparisons: comparison.relation == .between ? 2 : 1)
        guard comparison.options.isEmpty || comparison.relation == .tokenMatches else {
            throw Refusal("the modifiers [\(comparison.options)] of an operator are not supported")
        }
        switch comparison.relation {
        case .endsWith, .like, .matches:
            throw Refusal("the operator \(comparison.relation.rawValue) is not supported")
        case .equals, .notEquals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .between,
            .in, .contains, .beginsWith, .tokenMatches:
            break
        }
        if let predicate = try self.tokenSearch(comparison) { return predicate }
        if let predicate = try self.distance(comparison) { return predicate }
        switch comparison.modifier {
        case .all, .none: throw Refusal("the modifier \(comparison.modifier.rawValue) is not supported")
        case .any: return try self.elementComparison(comparison)
        case .direct: return try self.fieldComparison(comparison)
        }
    }
}

extension Predicate {
    fileprivate static func all(of parts: [Predicate]) -> Predicate {
        let flat = parts.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } }
        return flat.count == 1 ? flat[0] : .and(flat)
    }

    fileprivate static func any(of parts: [Predicate]) -> Predicate {
        let flat = parts.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } }
        return flat.count == 1 ? flat[0] : .or(flat)
    }

    /// The negation of an order is the reverse order: a record without the field meets neither.
    fileprivate func negated() throws(Refusal) -> Predicate {
        switch self {
        case .all: return .nothing
        case .nothing: return .all
        case .and, .or: throw Refusal("NOT is supported over a single comparison only")
        case .comparison(var comparison):
            guard let opposite = comparison.comparator.negation else {
                throw Refusal("NOT is not supported over a search for tokens or a distance")
            }
            comparison.comparator = opposite
            return .comparison(comparison)
        }
    }
}

extension Comparator {
    /// The comparator of the negated comparison, or `nil` if it cannot be negated.
    fileprivate var negation: Comparator? {
        switch self {
        case .lessThan: .greaterThanOrEquals
        case .lessThanOrEquals: .greaterThan
        case .greaterThan: .lessThanOrEquals
        case .greaterThanOrEquals: .lessThan
        default: self.opposite
        }
    }
}
