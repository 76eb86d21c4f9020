import AccessTokens
import Crypto
import Foundation
import RecordModel
import RecordServer
import RecordStore
import SQLiteEngine
import Testing
import WireProtocol

/// A service with a key that the server knows.
struct TestService {
    let key = P256.Signing.PrivateKey()
    var name = "shop"

    var keyID: String {
        SHA256.hash(data: self.key.publicKey.derRepresentation).map { String(format: "%02x", $0) }.joined()
    }

    func register(
        at server: ServerUnderTest,
        onBehalfOf users: [String] = [],
        isReadOnly: Bool = false
    ) throws {
        let key = NewServiceKey(
            serviceName: self.name,
            userRecordName: RandomNames.userRecordName(),
            keyID: self.keyID,
            publicKey: Array(self.key.publicKey.derRepresentation),
            onBehalfOf: users,
            isReadOnly: isReadOnly
        )
        try server.store.directory.addServiceKey(key, toContainer: ServerUnderTest.container)
    }

    func hello(
        onBehalfOf user: String = "",
        container: String = ServerUnderTest.container,
        environment: Environment = .development
    ) -> Hello {
        Hello(
            container: container,
            environment: environment,
            accessToken: "",
            installationID: Array(0..<16),
            client: "test",
            serviceKey: ServiceKeyName(keyID: self.keyID, onBehalfOf: user)
        )
    }

    /// What is to be signed, written here a second time: the tests do not ask the code that they test.
    static func text(_ nonce: [UInt8], _ hello: Hello, certificateHash: [UInt8]) throws -> [UInt8] {
        let name = try #require(hello.serviceKey)
        var text = Array("tidemark/1 proof\0".utf8) + nonce + certificateHash
        text.append(hello.environment == .production ? 2 : 1)
        for part in [hello.container, name.keyID, name.onBehalfOf] {
            text += [UInt8(part.utf8.count / 256), UInt8(part.utf8.count % 256)] + Array(part.utf8)
        }
        return text
    }

    func proof(_ nonce: [UInt8], _ hello: Hello, certificateHash: [UInt8]) throws -> Frame {
        let text = try Self.text(nonce, hello, certificateHash: certificateHash)
        let signature = try self.key.signature(for: text).rawRepresentation
        return Frame(kind: .proof, payload: Proof(signature: Array(signature)).encoded())
    }
}

extension ServerUnderTest {
    /// Says hello and returns the nonce that comes back.
    func challenged(_ hello: Hello) async throws -> (peer: TestPeer, nonce: [UInt8]) {
        let peer = try await self.connect()
        try await peer.send(Frame(kind: .hello, payload: hello.encoded()))
        let frame = try #require(await peer.next())
        try #require(frame.kind == .challenge)
        return (peer, try Challenge(decoding: frame.payload).nonce)
    }

    func signIn(_ service: TestService, onBehalfOf user: String = "") async throws -> (TestPeer, Welcome) {
        let hello = service.hello(onBehalfOf: user)
        let (peer, nonce) = try await self.challenged(hello)
        try await peer.send(service.proof(nonce, hello, certificateHash: peer.certificateHash()))
        return (peer, try await peer.welcome())
    }

    func signIn(identityToken: String) async throws -> (TestPeer, Welcome) {
        let peer = try await self.connect()
        let hello = Hello(
            container: Self.container,
            environment: .development,
            accessToken: "",
            client: "test",
            identityToken: identityToken
        )
        try await peer.send(Frame(kind: .hello, payload: hello.encoded()))
        return (peer, try await peer.welcome())
    }
}

extension TestPeer {
    func welcome() async throws -> Welcome {
        let frame = try #require(await self.next())
        guard frame.kind == .welcome else { throw UnexpectedFrame(frame: frame) }
        return try Welcome(decoding: frame.payload)
    }

    /// The reason of the `goaway` that comes next.
    func refusal() async throws -> CloseReason {
        let frame = try #require(await self.rest().last)
        try #require(frame.kind == .goaway)
        return try GoAway(decoding: frame.payload).reason
    }
}

/// Signs tokens as an identity provider does.
struct TestProvider {
    static let issuer = "https://id.test"
    let key = P256.Signing.PrivateKey()

    func tokens(createsUsers: Bool) async throws -> IdentityTokens {
        IdentityTokens(
            rules: IdentityTokens.Rules(
                issuer: Self.issuer,
                audience: nil,
                leewaySeconds: 0,
                createsUsers: createsUsers
            ),
            keys: try await VerificationKeys(contents: self.key.publicKey.pemRepresentation)
        )
    }

    /// A token that ends so many seconds after the start of the server's clock.
    func token(
        of subject: String,
        expiresIn seconds: Int64 = 300,
        audience: String = ServerUnderTest.container
    ) throws -> String {
        let claims: [String: Any] = [
            "iss": Self.issuer, "sub": subject, "aud": audience,
            "exp": ServerUnderTest.startMilliseconds / 1_000 + seconds,
        ]
        let text = try Self.part(["alg": "ES256"]) + "." + Self.part(claims)
        return text + "." + Self.base64(try self.key.signature(for: Data(text.utf8)).rawRepresentation)
    }

    private static func part(_ members: [String: Any]) throws -> String {
        self.base64(try JSONSerialization.data(withJSONObject: members))
    }

    private static func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
