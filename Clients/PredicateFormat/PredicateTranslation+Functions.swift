import RecordModel

/// Full-text searches and distances.
extension PredicateTranslation {
    /// Translates `SELF CONTAINS text`, `allTokens TOKENMATCHES[cdl] text` and `ALL tokenize(text,
    /// 'Cdl') IN allTokens`.
    ///
    /// Returns `nil` for other comparisons. Each word of the text counts, but the server ignores
    /// words that are too common.
    func tokenSearch(_ syntax: ComparisonSyntax) throws(Refusal) -> Predicate? {
        if case .function(let name, let arguments) = syntax.left, name.lowercased().hasPrefix("tokenize") {
            guard ["tokenize", "tokenize:using:"].contains(name.lowercased()), arguments.count == 2,
                syntax.relation == .in, Self.isAllText(syntax.right)
            else {
                throw Refusal("tokenize takes the form ALL tokenize:using:(text, 'Cdl') IN allTokens")
            }
            switch syntax.modifier {
            case .all: return try self.search(SystemField.allText.rawValue, .containsAllTokens, arguments[0])
            case .any: return try self.search(SystemField.allText.rawValue, .containsAnyTokens, arguments[0])
            case .direct, .none: throw Refusal("tokenize takes ALL or ANY in front of it")
            }
        }
        let isSearch =
            syntax.relation == .tokenMatches || syntax.relation == .contains && Self.isAllText(syntax.left)
        guard isSearch, syntax.modifier == .direct else { return nil }
        var field = SystemField.allText.rawValue
        if case .keyPath(let key) = syntax.left, !Self.isAllText(syntax.left) {
            field = try self.fieldName(key: key)
        }
        return try self.search(field, .containsAnyTokens, syntax.right)
    }

    private static func isAllText(_ expression: ExpressionSyntax) -> Bool {
        expression == .object || expression == .keyPath("allTokens")
    }

    private func search(
        _ field: String,
        _ comparator: Comparator,
        _ text: ExpressionSyntax
    ) throws(Refusal) -> Predicate {
        guard case .constant(.value(.string(let words))) = text else {
            throw Refusal("a search for words takes a string")
        }
        return .comparison(Comparison(field: field, comparator: comparator, operand: .string(words)))
    }

    /// Translates `distanceToLocation:fromLocation:(key, location) < metres`, in exactly this form.
    ///
    /// Returns `nil` for other comparisons.
    func distance(_ syntax: ComparisonSyntax) throws(Refusal) -> Predicate? {
        guard case .function("distanceToLocation:fromLocation:", let arguments) = syntax.left else {
            return nil
        }
        guard case .keyPath(let key) = arguments[0],
            case .constant(.value(.location(let origin))) = arguments[1]
        else {
            throw Refusal("distanceToLocation:fromLocation: takes a key and a location")
        }
        guard syntax.modifier == .direct, syntax.relation == .lessThan || syntax.relation == .lessThanOrEquals
        else {
            throw Refusal("a distance may only be less than something")
        }
        let metres: Double
        switch syntax.right {
        case .constant(.value(.double(let distance))): metres = distance
        case .constant(.value(.int64(let distance))): metres = Double(distance)
        default: throw Refusal("a distance is compared with a number of metres")
        }
        guard metres >= 0 else { throw Refusal("a distance is not negative") }
        return .comparison(
            Comparison(
                field: try self.fieldName(key: key),
                comparator: .near,
                operand: .location(origin),
                distanceMetres: metres
            )
        )
    }
}
