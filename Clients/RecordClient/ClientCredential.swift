import WireProtocol

/// The identity with which a client connects.
package enum ClientCredential: Sendable {
    /// Not signed in.
    case nobody
    /// A token of the server or of an identity provider it trusts.
    case token(String)
    /// A provider that is asked for a token if there is none yet, or if the server refuses the
    /// last one.
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

    /// Why a text can't be a token of any server; `nil` if it can.
    ///
    /// The client finds it, because a server would only say, at each attempt, that the greeting is
    /// malformed.
    package static func fault(ofToken token: String) -> String? {
        let bytes = token.utf8
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return "it contains white space, a line break, or a character that no token has"
        }
        let isOfProvider = Hello.isOfProvider(token)
        let bytesMax = isOfProvider ? Hello.identityTokenBytesMax : Hello.accessTokenBytesMax
        return bytes.count <= bytesMax ? nil : "it has \(bytes.count) bytes, and \(bytesMax) are the most"
    }

    package var isSignedIn: Bool {
        if case .nobody = self { false } else { true }
    }
}
