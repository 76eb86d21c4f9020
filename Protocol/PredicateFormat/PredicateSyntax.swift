import RecordModel

/// What a predicate says, as Foundation's format language can say it.
///
/// It holds more than a query may: what CloudKit refuses is named only by the translation to
/// `RecordModel.Predicate`.
package indirect enum PredicateSyntax: Hashable, Sendable {
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case value(Bool)
    case comparison(ComparisonSyntax)
    case and([PredicateSyntax])
    case or([PredicateSyntax])
    case not(PredicateSyntax)
}

extension PredicateSyntax {
    /// Parentheses, braces, calls and negations within each other: bounds the stack of everything
    /// that walks a tree.
    package static let nestingMax = 2 * Bounds.predicateDepthMax
    /// Bytes of a format: every byte of a predicate may be one of a query.
    package static let formatBytesMax = Bounds.queryBytesMax

    /// Parses a format.
    ///
    /// - Parameters:
    ///   - format: At most `formatBytesMax` bytes.
    ///   - arguments: What the conversions stand for, in their order; those left over are ignored.
    /// - Throws: `PredicateFailure.unparsable`.
    /// - Source: Apple, *Predicate Format String Syntax*.
    package init(
        format: String,
        arguments: [ExpressionSyntax] = []
    ) throws(PredicateFailure) {
        do throws(FormatProblem) {
            var parser = try FormatParser(format, arguments: arguments)
            self = try parser.wholePredicate()
        } catch {
            throw .unparsable(format: format, offset: error.offset, problem: error.text)
        }
    }
}
