import RecordModel

/// Comparisons of fields with constants.
extension PredicateTranslation {
    /// `field relation value`, and `value IN field`.
    mutating func fieldComparison(_ syntax: ComparisonSyntax) throws(Refusal) -> Predicate {
        if syntax.relation == .in, case .keyPath = syntax.right, case .constant = syntax.left {
            return try self.membership(of: syntax.left, in: syntax.right, syntax)
        }
        let field = try self.field(syntax.left, of: syntax)
        let comparator: Comparator
        switch syntax.relation {
        case .equals: comparator = .equals
        case .notEquals: comparator = .notEquals
        case .lessThan: comparator = .lessThan
        case .lessThanOrEquals: comparator = .lessThanOrEquals
        case .greaterThan: comparator = .greaterThan
        case .greaterThanOrEquals: comparator = .greaterThanOrEquals
        case .between: return try self.between(field, syntax)
        case .in:
            let list = try self.list(syntax.right, for: field, of: syntax)
            return .comparison(Comparison(field: field, comparator: .in, operand: list))
        case .contains: return try self.membership(of: syntax.right, in: syntax.left, syntax)
        case .beginsWith:
            let prefix = try self.prefix(field, syntax)
            return .comparison(Comparison(field: field, comparator: .beginsWith, operand: prefix))
        case .endsWith, .like, .matches, .tokenMatches: throw self.unsupported(syntax)
        }
        let value = try self.value(syntax.right, for: field, of: syntax)
        if comparator != .equals, comparator != .notEquals { try self.checkOrdered(value) }
        return .comparison(Comparison(field: field, comparator: comparator, operand: value))
    }

    /// `ANY field relation value`, and `ANY {…} = field`.
    mutating func elementComparison(_ syntax: ComparisonSyntax) throws(Refusal) -> Predicate {
        if case .list = syntax.left, syntax.relation == .equals {
            let field = try self.field(syntax.right, of: syntax)
            let list = try self.list(syntax.left, for: field, of: syntax)
            return .comparison(Comparison(field: field, comparator: .in, operand: list))
        }
        switch syntax.relation {
        case .equals, .contains: return try self.membership(of: syntax.right, in: syntax.left, syntax)
        case .in:
            let field = try self.listField(syntax.left, of: syntax)
            let list = try self.list(syntax.right, for: field, of: syntax)
            return .comparison(Comparison(field: field, comparator: .listContainsAny, operand: list))
        case .beginsWith:
            let field = try self.listField(syntax.left, of: syntax)
            let prefix = try self.prefix(field, syntax)
            return .comparison(Comparison(field: field, comparator: .listMemberBeginsWith, operand: prefix))
        case .notEquals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .between,
            .endsWith,
            .like, .matches, .tokenMatches:
            throw self.unsupported(syntax)
        }
    }

    private func unsupported(_ syntax: ComparisonSyntax) -> Refusal {
        let modifier = syntax.modifier == .direct ? "" : " with \(syntax.modifier.rawValue)"
        return Refusal("the operator \(syntax.relation.rawValue) is not supported\(modifier)")
    }

    private func membership(
        of element: ExpressionSyntax,
        in list: ExpressionSyntax,
        _ syntax: ComparisonSyntax
    ) throws(Refusal) -> Predicate {
        let field = try self.listField(list, of: syntax)
        let value = try self.value(element, for: field, of: syntax)
        return .comparison(Comparison(field: field, comparator: .listContains, operand: value))
    }

    private mutating func between(_ field: String, _ syntax: ComparisonSyntax) throws(Refusal) -> Predicate {
        guard case .list(let bounds) = syntax.right, bounds.count == 2 else {
            throw Refusal("BETWEEN takes a list of two values")
        }
        let lower = try self.value(bounds[0], for: field, of: syntax)
        let upper = try self.value(bounds[1], for: field, of: syntax)
        try self.checkOrdered(lower)
        try self.checkOrdered(upper)
        return .and([
            .comparison(Comparison(field: field, comparator: .greaterThanOrEquals, operand: lower)),
            .comparison(Comparison(field: field, comparator: .lessThanOrEquals, operand: upper)),
        ])
    }

    private func prefix(_ field: String, _ syntax: ComparisonSyntax) throws(Refusal) -> FieldValue {
        guard SystemField(rawValue: field) == nil else {
            throw Refusal("BEGINSWITH is not supported of \(syntax.left.printed.cut())")
        }
        let value = try self.value(syntax.right, for: field, of: syntax)
        guard value.type == .string else { throw Refusal("BEGINSWITH takes a string") }
        return value
    }

    private func checkOrdered(_ value: FieldValue) throws(Refusal) {
        switch value {
        case .reference: throw Refusal("references are equal or not; they have no order")
        case .location: throw Refusal("locations are equal or not; they have no order")
        default: break
        }
    }
}

/// The sides of a comparison.
extension PredicateTranslation {
    private func field(_ side: ExpressionSyntax, of syntax: ComparisonSyntax) throws(Refusal) -> String {
        guard case .keyPath(let key) = side else {
            throw Refusal(
                "Invalid left expression in <\(syntax.printed.cut())>: "
                    + "<\(side.printed.cut())> is not an evaluated object expression"
            )
        }
        return try self.fieldName(key: key)
    }

    private func listField(_ side: ExpressionSyntax, of syntax: ComparisonSyntax) throws(Refusal) -> String {
        let field = try self.field(side, of: syntax)
        guard SystemField(rawValue: field) == nil else {
            throw Refusal("\(side.printed.cut()) is not a list")
        }
        return field
    }

    func fieldName(key: String) throws(Refusal) -> String {
        switch SystemField.fieldName(key: key) {
        case .success(let name): return name
        case .failure(let problem): throw Refusal(problem.text)
        }
    }

    /// Returns a constant that is not a list.
    func value(
        _ side: ExpressionSyntax,
        for field: String,
        of syntax: ComparisonSyntax
    ) throws(Refusal) -> FieldValue {
        switch side {
        case .constant(.value(.string(let name))) where SystemField(rawValue: field)?.type == .reference:
            return .reference(Reference(recordName: name, action: .none))
        case .constant(.value(let value)): return value
        case .constant(.null): throw Refusal("a comparison with nil is not supported")
        case .constant(.unusable(let why)): throw Refusal(why)
        case .function(let name, []) where name.lowercased() == "now": return .timestamp(self.nowSeconds)
        case .list: throw Refusal("a list may stand only behind IN and BETWEEN, or between ANY and =")
        case .object, .keyPath, .function, .variable, .predicate:
            throw Refusal(
                "Invalid right expression in <\(syntax.printed.cut())>: <\(side.printed.cut())> is not a constant value"
            )
        }
    }

    private mutating func list(
        _ side: ExpressionSyntax,
        for field: String,
        of syntax: ComparisonSyntax
    ) throws(Refusal) -> FieldValue {
        guard case .list(let elements) = side else {
            throw Refusal(
                "Invalid right expression in <\(syntax.printed.cut())>: <\(side.printed.cut())> is not a list"
            )
        }
        try self.count(elements: elements.count)
        var values: [FieldValue] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            values.append(try self.value(element, for: field, of: syntax))
        }
        guard let list = FieldValue(elements: values) else {
            throw Refusal("the elements of a list differ in type")
        }
        return list
    }
}
