import Foundation
import NIOHTTP1
import RecordServer

/// The credential in the head of a request.
struct WebCredential: Sendable {
    private enum Form: Sendable {
        case nobody
        case token(String)
        case signature(RequestSignature)
    }

    private static let keyField = "X-Apple-CloudKit-Request-KeyID"
    private static let dateField = "X-Apple-CloudKit-Request-ISO8601Date"
    private static let signatureField = "X-Apple-CloudKit-Request-SignatureV1"

    private let form: Form
    /// The user for whom a service asks.
    private let onBehalfOf: String?

    /// Whether there is one.
    var isPresent: Bool { if case .nobody = self.form { false } else { true } }

    /// Whether the request was signed; then its changes have the ID of the signature.
    var signature: RequestSignature? {
        if case .signature(let signature) = self.form { signature } else { nil }
    }

    /// Reads and checks what needs no directory.
    ///
    /// - Throws: 401 for a signature without its form, or beside another credential; 421 for a web
    ///   session, which this version does not have.
    init(_ headers: HTTPHeaders, query: [String: String], nowMilliseconds: Int64) throws(WebFailure) {
        let signed = [Self.keyField, Self.dateField, Self.signatureField].map { headers[$0] }
        let tokens = headers["Authorization"]
        let hasSession = query["ckWebAuthToken"] != nil || query["ckSession"] != nil
        self.onBehalfOf = query["onBehalfOf"]
        guard signed.allSatisfy(\.isEmpty) else {
            guard tokens.isEmpty, !hasSession, query["ckAPIToken"] == nil else {
                throw Self.refusal("a signature and tokens must not be mixed")
            }
            guard signed.allSatisfy({ $0.count == 1 }),
                let signature = RequestSignature(
                    keyID: signed[0][0],
                    date: signed[1][0],
                    signature: signed[2][0]
                )
            else { throw Self.refusal("the fields of the signature do not have their form") }
            guard signature.isTimely(nowMilliseconds: nowMilliseconds) else {
                throw Self.refusal(
                    "the date of the signature is more than ten minutes from the server's clock"
                )
            }
            self.form = .signature(signature)
            return
        }
        guard !hasSession else {
            throw WebFailure(
                .authenticationRequired,
                "this version of the server has no web sessions: sign the request, or send an access token"
            )
        }
        guard let token = tokens.first else {
            self.form = .nobody
            return
        }
        let parts = token.split(separator: " ", maxSplits: 1)
        guard tokens.count == 1, parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw Self.refusal("the field Authorization has to be 'Bearer' and an access token")
        }
        self.form = .token(String(parts[1]))
    }

    private static func refusal(_ reason: String) -> WebFailure {
        WebFailure(.authenticationFailed, reason)
    }

    /// The identity that the sender claims.
    ///
    /// A service that asks for a user has signed the query, which names the user.
    func claim(_ route: WebRoute, target: String, body: [UInt8]) -> DoorClaim {
        let proof: DoorClaim.Proof
        switch self.form {
        case .nobody: proof = .nobody
        case .token(let token): proof = .token(token)
        case .signature(let signature):
            let coversQuery = self.onBehalfOf != nil
            proof = .signature(keyID: signature.keyID, onBehalfOf: self.onBehalfOf) { key in
                signature.isMade(with: key, target: target, body: body, coversQuery: coversQuery)
            }
        }
        return DoorClaim(container: route.container, environment: route.environment, proof: proof)
    }
}
