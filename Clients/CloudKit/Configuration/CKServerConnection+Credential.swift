private import Foundation
internal import RecordClient

extension CKServerConnection {
    /// The key of a service, instead of a user's token.
    public struct ServiceKey: Hashable, Sendable {
        /// Where the private key is.
        public enum Source: Hashable, Sendable {
            /// A file in PEM, as `tidemark key add` printed it.
            case file(String)
            /// The same as text.
            case pem(String)
        }

        /// Where the private key is; it is an ECDSA key on P-256, and its ID follows from it.
        public var source: Source
        /// The user for whom the service acts, by the operator's name for them; `nil` if it acts
        /// for itself.
        public var onBehalfOf: String?

        /// Describes a key; reads nothing.
        ///
        /// - Parameters:
        ///   - source: Where the private key is.
        ///   - onBehalfOf: The user for whom the service acts; `nil` if it acts for itself.
        public init(_ source: Source, onBehalfOf: String? = nil) {
            self.source = source
            self.onBehalfOf = onBehalfOf
        }
    }

    /// Supplies tokens on demand, all of the same user.
    ///
    /// The SDK asks for the first connection, and again when the server no longer accepts a token
    /// that it accepted before. Two providers are equal if one is a copy of the other.
    public struct TokenProvider: Hashable, Sendable {
        private final class Identity: Sendable {}

        private let identity = Identity()
        let token: @Sendable () async throws -> String

        /// Wraps a closure.
        ///
        /// - Parameter token: Returns a token of the server, or of an identity provider that the
        ///   server trusts. If it throws, the waiting requests fail with `CKError.networkFailure`
        ///   and the error's description.
        public init(_ token: @escaping @Sendable () async throws -> String) {
            self.token = token
        }

        /// Returns whether both are copies of one provider.
        public static func == (left: Self, right: Self) -> Bool { left.identity === right.identity }

        /// Hashes the identity of the provider.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self.identity)) }
    }

    /// Returns the credential with which the record client connects.
    ///
    /// - Throws: `CKError.badContainer` if there is more than one of token, key and provider, or if
    ///   the key or the token is unusable.
    func credential() throws(CKError) -> ClientCredential {
        let token = self.token.flatMap { $0.isEmpty ? nil : $0 }
        let given = [token != nil, self.serviceKey != nil, self.tokenProvider != nil].count { $0 }
        guard given <= 1 else {
            throw CKError.local(
                .badContainer,
                "A connection takes one credential: a token, a service key (\(Variable.serviceKey)) or a token provider"
            )
        }
        if let serviceKey { return .serviceKey(try Self.load(serviceKey), onBehalfOf: serviceKey.onBehalfOf) }
        if let tokenProvider { return .provided(Self.asking(tokenProvider)) }
        guard let token else { return .nobody }
        if let fault = ClientCredential.fault(ofToken: token) {
            throw CKError.local(
                .badContainer,
                "The access token can't work: \(fault). Set \(Variable.token) to what tidemark user add printed"
            )
        }
        return .token(token)
    }

    private static func load(_ key: ServiceKey) throws(CKError) -> SigningKey {
        let pem: String
        switch key.source {
        case .pem(let text): pem = text
        case .file(let path):
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw CKError.local(.badContainer, "The service key \"\(path)\" can't be read")
            }
            pem = text
        }
        guard let loaded = SigningKey(pem: pem) else {
            throw CKError.local(
                .badContainer,
                "The service key is not a P-256 private key in PEM: use what tidemark key add printed"
            )
        }
        return loaded
    }

    /// Bridges the asynchronous provider to the client's replies; the only such bridge.
    private static func asking(_ provider: TokenProvider) -> ClientCredential.TokenProvider {
        { reply in
            Task {
                do {
                    reply(.success(try await provider.token()))
                } catch {
                    reply(.failure(.init("\(error)")))
                }
            }
        }
    }
}
