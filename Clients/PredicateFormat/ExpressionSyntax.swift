package import RecordModel

/// One side of a comparison.
package indirect enum ExpressionSyntax: Hashable, Sendable {
    /// `SELF`.
    case object
    /// A key, or several separated by dots.
    case keyPath(String)
    case constant(ConstantSyntax)
    /// `{…}`, or an array among the arguments.
    case list([ExpressionSyntax])
    /// A call. The name has a colon for each argument, unless the call was written with a plain
    /// name (`now()`).
    ///
    /// Arithmetic and indexes are calls of Foundation's functions for them: `add:to:`,
    /// `objectFrom:withIndex:`.
    case function(String, [ExpressionSyntax])
    /// `$name`.
    case variable(String)
    /// An argument of `SUBQUERY` or `TERNARY`.
    case predicate(PredicateSyntax)

    package static func value(_ value: FieldValue) -> ExpressionSyntax { .constant(.value(value)) }
}
