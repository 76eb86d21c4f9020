package import RecordModel
import StorageContract

extension QueryPlan {
    /// The plan for people: one line each for the source, the order and the filter.
    package func lines(sort: [SortKey]) -> [String] {
        var lines: [String] = []
        switch self.order {
        case .source(let source): lines += source.lines
        case .collected(let source):
            lines += source.lines
            lines.append("collect, and take the first by \(Self.text(sort))")
        case .index(let ranges, _):
            if let first = sort.first {
                lines.append(
                    "read index of \(first.field) \(Self.text(ranges)) in the order of \(Self.text(sort))"
                )
            }
        }
        if self.filter != .all { lines.append("filter by record: \(self.filter.text)") }
        return lines
    }

    private static func text(_ sort: [SortKey]) -> String {
        sort.map { key in
            let direction = key.isAscending ? "ascending" : "descending"
            return key.origin == nil ? "\(key.field) \(direction)" : "distance to \(key.field)"
        }.joined(separator: ", ")
    }

    fileprivate static func text(_ ranges: [EntryRange]) -> String {
        ranges == [.all] ? "from end to end" : "in \(ranges.count) range\(ranges.count == 1 ? "" : "s")"
    }
}

extension QuerySource {
    fileprivate var lines: [String] {
        switch self {
        case .ranges(let index, let ranges):
            return ["read index of \(index.field) \(QueryPlan.text(ranges))"]
        case .numbers(let numbers): return ["read \(numbers.text)"]
        case .branches(let branches):
            if branches.isEmpty { return ["read nothing"] }
            return ["one after another:"] + branches.flatMap { $0.source.lines.map { "  " + $0 } }
        }
    }
}

extension NumberSource {
    fileprivate var text: String {
        switch self {
        case .value(let index, _): "one value of \(index.field)"
        case .any(let parts): "any of (" + parts.map(\.text).joined(separator: ", ") + ")"
        case .all(let parts): "all of (" + parts.map(\.text).joined(separator: ", ") + ")"
        }
    }
}

extension CheckedPredicate {
    /// The compared fields and the comparisons, without values.
    fileprivate var text: String {
        switch self {
        case .all: "all"
        case .nothing: "nothing"
        case .test(let test): test.text
        case .and(let parts): "(" + parts.map(\.text).joined(separator: " and ") + ")"
        case .or(let parts): "(" + parts.map(\.text).joined(separator: " or ") + ")"
        }
    }
}

extension FieldTest {
    fileprivate var text: String {
        let what =
            switch self.condition {
            case .anyOf(let values): values.count == 1 ? "equals" : "one of \(values.count)"
            case .allOf(let values): "all of \(values.count)"
            case .range: "between"
            case .prefix: "begins with"
            case .near: "near"
            case .anyToken: "any token"
            case .allTokens: "all tokens"
            }
        return "\(self.isNegated ? "not " : "")\(self.fields.joined(separator: ",")) \(what)"
    }
}
