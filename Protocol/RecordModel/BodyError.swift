/// What is wrong with the bytes of a record body.
package enum BodyError: Error, Hashable, Sendable {
    /// Not an encoded `RecordFields` in the one permitted encoding.
    case malformed
    /// Two fields with one name, or names out of order. The later name.
    case fieldOrder(String)
    case fieldNameInvalid(String)
    /// The value breaks a rule of its type: text that is not UTF-8, a number that is not finite, a
    /// place off the globe.
    case valueInvalid(field: String)
    case tooManyFields
    case tooManyElements(field: String)
    /// `clear` in a body that is not a save.
    case clearNotAllowed(field: String)
}
