/// A comparison of two expressions.
package struct ComparisonSyntax: Hashable, Sendable {
    /// The elements of a list on the left that must meet the comparison.
    package enum Modifier: String, Hashable, Sendable {
        /// The left side itself.
        case direct = ""
        /// `SOME` is another spelling.
        case any = "ANY"
        case all = "ALL"
        case none = "NONE"
    }

    /// The operators.
    ///
    /// Raw values are the printed spellings.
    package enum Relation: String, Hashable, Sendable, CaseIterable {
        case equals = "=="
        case notEquals = "!="
        case lessThan = "<"
        case lessThanOrEquals = "<="
        case greaterThan = ">"
        case greaterThanOrEquals = ">="
        case between = "BETWEEN"
        case `in` = "IN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case like = "LIKE"
        case matches = "MATCHES"
        case tokenMatches = "TOKENMATCHES"
    }

    package var modifier: Modifier
    package var left: ExpressionSyntax
    package var relation: Relation
    /// The letters in brackets after the operator, `c`, `d`, `l`, `n` or `w`, in lower case.
    ///
    /// Empty without brackets.
    package var options: String
    package var right: ExpressionSyntax

    package init(
        _ left: ExpressionSyntax,
        _ relation: Relation,
        _ right: ExpressionSyntax,
        modifier: Modifier = .direct,
        options: String = ""
    ) {
        self.modifier = modifier
        self.left = left
        self.relation = relation
        self.options = options
        self.right = right
    }
}
