package import RecordModel

/// A constant of a predicate.
package enum ConstantSyntax: Hashable, Sendable {
    /// `nil`.
    case null
    /// Any value but a list.
    case value(FieldValue)
    /// An argument that cannot be the value of a field, and the reason.
    case unusable(String)
}
