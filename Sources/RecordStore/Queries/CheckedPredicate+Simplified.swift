extension CheckedPredicate {
    /// The same condition without redundant nesting.
    ///
    /// `all` and `nothing` remain only as the whole condition. No part of an `and` is an `and`, and
    /// no part of an `or` is an `or`.
    var simplified: CheckedPredicate {
        switch self {
        case .all, .nothing, .test: return self
        case .and(let parts):
            var kept: [CheckedPredicate] = []
            for part in parts.map(\.simplified) {
                switch part {
                case .all: continue
                case .nothing: return .nothing
                case .and(let inner): kept += inner
                case .test, .or: kept.append(part)
                }
            }
            return kept.isEmpty ? .all : kept.count == 1 ? kept[0] : .and(kept)
        case .or(let parts):
            var kept: [CheckedPredicate] = []
            for part in parts.map(\.simplified) {
                switch part {
                case .nothing: continue
                case .all: return .all
                case .or(let inner): kept += inner
                case .test, .and: kept.append(part)
                }
            }
            return kept.isEmpty ? .nothing : kept.count == 1 ? kept[0] : .or(kept)
        }
    }

    /// The parts of an `and`, or the condition itself.
    var conjuncts: [CheckedPredicate] {
        switch self {
        case .all: []
        case .and(let parts): parts
        case .nothing, .test, .or: [self]
        }
    }
}
