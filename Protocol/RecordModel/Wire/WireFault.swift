/// A fault in encoded bytes.
@usableFromInline
package enum WireFault: Error, Hashable, Sendable {
    /// A value, or the length of one, reaches beyond the end.
    case truncated
    /// A variable-length integer has more than ten bytes, or more than it needs where it must have
    /// the fewest.
    case overlong
    /// The number of a field is 0 or takes more than 29 bits, or its wire type is that of a group
    /// or of nothing.
    case tag
}
