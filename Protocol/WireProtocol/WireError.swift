package import RecordModel

/// A fault in a peer's bytes.
package struct WireError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// A header announces a payload above the limit.
        case frameTooLarge
        /// The payload is not an encoding of the message that the frame's kind requires.
        case malformed
        /// A required part is absent, or a forbidden one is present.
        case missing
        /// A count, length or number outside its bounds.
        case outOfBounds
        /// An enumeration's number that this version does not know.
        case unknownNumber
        /// A grant of 0 bytes, or of more than a window can hold.
        case creditInvalid
        /// A well-formed request that cannot be executed: it ends with this code and the connection
        /// stays open.
        case refused(ErrorCode)
    }

    package var code: Code
    /// The field of the specification that is wrong.
    package var field: String
    /// A description for the client's user; empty if there is nothing to add.
    package var detail = ""

    package init(_ code: Code, field: StaticString, detail: String = "") {
        self.code = code
        self.field = "\(field)"
        self.detail = detail
    }

    /// The code that ends the stream of the request; `nil` if the connection is closed instead.
    package var refusal: ErrorCode? {
        if case .refused(let code) = self.code { code } else { nil }
    }

    /// The same fault in a server's message: there is no request to refuse.
    var ofServer: WireError {
        guard case .refused = self.code else { return self }
        var error = self
        error.code = .outOfBounds
        return error
    }

    /// The reason of the `goaway` if the connection is closed.
    package var closeReason: CloseReason {
        switch self.code {
        case .frameTooLarge: .frameTooLarge
        case .creditInvalid: .creditInvalid
        case .malformed, .missing, .outOfBounds, .unknownNumber, .refused: .messageMalformed
        }
    }
}
