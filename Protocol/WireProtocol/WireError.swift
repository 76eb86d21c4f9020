/// What is wrong with a peer's bytes.
package struct WireError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// A header announces a payload above the limit.
        case frameTooLarge
        /// The payload is not an encoding of the message that the frame's kind demands.
        case malformed
        /// A required part is absent, or one that must be absent is there.
        case missing
        /// A count, length or number outside its bounds.
        case outOfBounds
        /// A name that breaks its rule.
        case nameInvalid
        /// An enumeration's number that this version does not know.
        case unknownNumber
    }

    package var code: Code
    /// The field of the specification that is wrong.
    package var field: String

    package init(_ code: Code, field: StaticString) {
        self.code = code
        self.field = "\(field)"
    }
}
