package import RecordModel

/// What stands in a predicate for itself.
package enum ConstantSyntax: Hashable, Sendable {
    /// `nil`.
    case null
    /// Anything but a list.
    case value(FieldValue)
    /// An argument that can't be the value of a field, and why.
    case unusable(String)
}
