import RecordModel

/// A predicate of Foundation's format language.
///
/// It can express more than a query. The translation detects what CloudKit does not support
/// to `RecordModel.Predicate`.
package indirect enum PredicateSyntax: Hashable, Sendable {
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case value(Bool)
    case comparison(ComparisonSyntax)
    case and([PredicateSyntax])
    case or([PredicateSyntax])
    case not(PredicateSyntax)
}

extension PredicateSyntax {
    /// Nested parentheses, braces, calls and negations.
    ///
    /// Bounds the stack of every function that walks a tree.
    package static let nestingMax = 2 * Bounds.predicateDepthMax
    /// Bytes of a format.
    ///
    /// Each byte of a predicate may become one of a query.
    package static let formatBytesMax = Bounds.queryBytesMax

    /// Parses a format.
    ///
    /// - Parameters:
    ///   - format: At most `formatBytesMax` bytes.
    ///   - arguments: The arguments of the conversions, in their order. Excess ones are ignored.
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
