/// What is wrong with the bytes of a record body.
package enum BodyError: Error, Hashable, Sendable {
    /// The bytes are not `RecordFields` in the one permitted encoding.
    case malformed
    /// Two fields have one name, or the names are out of order. Has the later name.
    case fieldOrder(String)
    case fieldNameInvalid(String)
    /// The value breaks a rule of its type: text that is not UTF-8, a number that is not finite, a
    /// location off the globe.
    case valueInvalid(field: String)
    case tooManyFields
    case tooManyElements(field: String)
    /// A body that is not a save contains `clear`.
    case clearNotAllowed(field: String)
}
