/// Whom a client connects as.
package enum ClientCredential: Sendable {
    /// Not signed in.
    case nobody
    /// A token of the server or of an identity provider it trusts.
    case token(String)
    /// A token that is asked for when there is none yet, and when the server says that the last one is no good any more.
    case provided(TokenProvider)
    case serviceKey(SigningKey, onBehalfOf: String?)

    /// Gives a token, or says in words why there is none; called once, from any thread.
    package typealias TokenReply = @Sendable (Result<String, TokenFailure>) -> Void
    package typealias TokenProvider = @Sendable (@escaping TokenReply) -> Void

    /// A provider has no token now; whether to ask again is the caller's choice.
    package struct TokenFailure: Error, Hashable, Sendable {
        package var description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    package var isSignedIn: Bool {
        if case .nobody = self { false } else { true }
    }
}
