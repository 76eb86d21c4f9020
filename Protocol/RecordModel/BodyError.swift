/// A fault in the bytes of a record body.
package enum BodyError: Error, Hashable, Sendable {
    /// The bytes are not `RecordFields` in the one permitted encoding.
    case malformed
    /// Two fields have the same name, or the names are out of order. Has the later name.
    case fieldOrder(String)
    case fieldNameInvalid(String)
    /// The value breaks a rule of its type: text that is not UTF-8, a number that is not finite, a
    /// location off the globe.
    case valueInvalid(field: String)
    /// A reference contains an invalid record name.
    case recordNameInvalid(field: String, name: String)
    case tooManyFields
    case tooManyElements(field: String)
    /// A body that is not a save contains `clear`.
    case clearNotAllowed(field: String)
}

extension BodyError {
    /// Describes a fault of the encoded fields of a record.
    package var text: String {
        switch self {
        case .malformed: "the fields of a record are not in the canonical encoding"
        case .fieldOrder(let name): "field '\(name)' is there twice or out of order"
        case .fieldNameInvalid:
            "a field name is a letter, then letters, digits and '_', at most 255 characters"
        case .valueInvalid(let field): "the value of field '\(field)' breaks a rule of its type"
        case .recordNameInvalid(let field, let name):
            "field '\(field)' refers to \(NameRules.quoted(name)): \(NameRules.recordNameRule)"
        case .tooManyFields: "a record has at most \(Bounds.fieldsMax) fields"
        case .tooManyElements(let field):
            "the list in field '\(field)' has more than \(Bounds.listElementsMax) elements"
        case .clearNotAllowed(let field): "field '\(field)' is marked to be removed, which only a save can do"
        }
    }
}
