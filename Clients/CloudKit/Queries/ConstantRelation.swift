import Foundation
import PredicateFormat
import RecordModel

/// A relation between constants, as Foundation understands it.
struct ConstantRelation {
    private let relation: ComparisonSyntax.Relation
    private let options: String.CompareOptions

    init(_ relation: ComparisonSyntax.Relation, options: String) {
        self.relation = relation
        self.options = options.reduce(into: []) { result, letter in
            if letter == "c" { result.insert(.caseInsensitive) }
            if letter == "d" { result.insert(.diacriticInsensitive) }
        }
    }

    func isTrue(_ left: ExpressionSyntax, _ right: ExpressionSyntax) -> Bool {
        switch self.relation {
        case .equals: self.areEqual(left, right)
        case .notEquals: !self.areEqual(left, right)
        case .lessThan: self.order(left, right) == .orderedAscending
        case .greaterThan: self.order(left, right) == .orderedDescending
        case .lessThanOrEquals: self.order(left, right).map { $0 != .orderedDescending } ?? false
        case .greaterThanOrEquals: self.order(left, right).map { $0 != .orderedAscending } ?? false
        case .between: self.isBetween(left, right)
        case .in: self.isIn(left, right)
        case .contains: self.isIn(right, left)
        case .beginsWith: self.isFound(right, in: left, at: .anchored)
        case .endsWith: self.isFound(right, in: left, at: [.anchored, .backwards])
        case .like: self.matches(left, right) { Self.expression(wildcards: $0) }
        case .matches: self.matches(left, right) { $0 }
        case .tokenMatches: false
        }
    }

    private func areEqual(_ left: ExpressionSyntax, _ right: ExpressionSyntax) -> Bool {
        switch (left, right) {
        case (.constant(.null), .constant(.null)): true
        case (.list(let left), .list(let right)):
            left.count == right.count && zip(left, right).allSatisfy { self.areEqual($0, $1) }
        case (.constant(.value(.location(let left))), .constant(.value(.location(let right)))): left == right
        default: self.order(left, right) == .orderedSame
        }
    }

    private func order(_ left: ExpressionSyntax, _ right: ExpressionSyntax) -> ComparisonResult? {
        guard case .constant(.value(let left)) = left, case .constant(.value(let right)) = right else {
            return nil
        }
        if !self.options.isEmpty, case .string(let left) = left, case .string(let right) = right {
            return left.compare(right, options: self.options)
        }
        return FieldOrder.compare(left, right)
    }

    private func isBetween(_ value: ExpressionSyntax, _ bounds: ExpressionSyntax) -> Bool {
        guard case .list(let bounds) = bounds, bounds.count == 2, let lower = self.order(bounds[0], value),
            let upper = self.order(value, bounds[1])
        else {
            return false
        }
        return lower != .orderedDescending && upper != .orderedDescending
    }

    /// Returns whether a value is an element of a list, or a part of a string.
    private func isIn(_ element: ExpressionSyntax, _ container: ExpressionSyntax) -> Bool {
        guard case .list(let elements) = container else {
            return self.isFound(element, in: container, at: [])
        }
        if case .list(let parts) = element { return parts.allSatisfy { self.isIn($0, container) } }
        return elements.contains { self.areEqual($0, element) }
    }

    private func isFound(
        _ part: ExpressionSyntax,
        in whole: ExpressionSyntax,
        at anchor: String.CompareOptions
    ) -> Bool {
        guard case .constant(.value(.string(let part))) = part,
            case .constant(.value(.string(let whole))) = whole
        else {
            return false
        }
        if part.isEmpty { return true }
        return whole.range(of: part, options: self.options.union(anchor).union(.literal)) != nil
    }

    private func matches(
        _ text: ExpressionSyntax,
        _ pattern: ExpressionSyntax,
        expression: (String) -> String
    ) -> Bool {
        guard case .constant(.value(.string(var text))) = text,
            case .constant(.value(.string(var pattern))) = pattern
        else {
            return false
        }
        if self.options.contains(.diacriticInsensitive) {
            text = text.folding(options: .diacriticInsensitive, locale: nil)
            pattern = pattern.folding(options: .diacriticInsensitive, locale: nil)
        }
        let options: NSRegularExpression.Options =
            self.options.contains(.caseInsensitive) ? [.caseInsensitive] : []
        let anchored = "\\A(?:\(expression(pattern)))\\z"
        guard let regular = try? NSRegularExpression(pattern: anchored, options: options) else {
            return false
        }
        return regular.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }

    /// Translates wildcards: `*` is any text, `?` any character; a backslash makes them ordinary.
    private static func expression(wildcards pattern: String) -> String {
        var expression = "(?s)"
        var isEscaped = false
        for character in pattern {
            switch character {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "*" where !isEscaped: expression += ".*"
            case "?" where !isEscaped: expression += "."
            default: expression += NSRegularExpression.escapedPattern(for: String(character))
            }
            isEscaped = false
        }
        return expression
    }
}
