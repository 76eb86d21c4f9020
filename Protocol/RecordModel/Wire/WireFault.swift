/// A fault in encoded bytes.
@usableFromInline
package enum WireFault: Error, Hashable, Sendable {
    /// A value, or the length of one, reaches beyond the end.
    case truncated
    /// A variable-length integer has more than ten bytes, or is not minimal where it must be.
    case overlong
    /// The number of a field is 0 or takes more than 29 bits, or its wire type is a group or
    /// invalid.
    case tag
}
