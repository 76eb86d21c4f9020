import Crypto
import NIOCore
import RecordModel
import RecordStore
import SQLiteEngine
import TestSupport
import Testing
import WireProtocol

@testable import RecordServer

/// The end of a credential: sections 3.3 and 3.4 of the specification.
@Suite(.timeLimit(.minutes(10)))
struct CredentialEndTests {
    private static let container = ServerUnderTest.container
    private static let newToken = Array(SHA256.hash(data: Array("new".utf8)))

    @Test func `a revoked token ends its connections, and nobody else's`() async throws {
        try await ServerUnderTest.run { server in
            let directory = server.store.directory
            try directory.addUser(
                named: "other",
                userRecordName: RandomNames.userRecordName(),
                tokenHash: Self.newToken,
                toContainer: Self.container
            )
            let mine = try await [server.signIn(), server.signIn(), server.signIn()]
            let other = try await server.signIn(token: "new")
            let nobody = try await server.signIn(token: "")
            try directory.revokeUser(named: "user", inContainer: Self.container)
            for peer in mine { #expect(try await peer.refusal() == .notAuthenticated) }
            for peer in [other, nobody] {
                try await peer.send(.fetchZones(FetchZones(scope: .public, selection: .all)), on: 1)
                #expect(try await peer.answer(on: 1).end.failure == nil)
            }
            #expect(server.log.complaints.count == 3)
        }
    }

    @Test func `a restriction ends the connections of its user, and so does its end`() async throws {
        try await ServerUnderTest.run { server in
            let directory = server.store.directory
            try directory.addUser(
                named: "other",
                userRecordName: RandomNames.userRecordName(),
                tokenHash: Self.newToken,
                toContainer: Self.container
            )
            let other = try await server.signIn(token: "new")
            for isRestricted in [true, false] {
                let listener = try await server.connect()
                try await listener.send(.hello(token: ServerUnderTest.token, installation: Array(0..<16)))
                #expect(try await listener.welcome().isRestricted != isRestricted)
                try await listener.send(.listen, on: 1)
                let failure = try await listener.answer(on: 1).end.failure
                #expect(failure == (isRestricted ? nil : .accountRestricted))
                try directory.setRestriction(isRestricted, ofUser: "user", inContainer: Self.container)
                #expect(try await listener.refusal() == .accountChanged)
            }
            try await other.send(.fetchZones(FetchZones(scope: .private, selection: .all)), on: 1)
            #expect(try await other.answer(on: 1).end.failure == nil)
        }
    }

    @Test func `a listener and requests in flight end with the token`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.connect()
            try await peer.send(.hello(token: ServerUnderTest.token, installation: Array(0..<16)))
            _ = try await peer.welcome()
            try await peer.send(.listen, on: 1)
            _ = try await peer.answer(on: 1)
            try server.store.directory.renewToken(
                ofUser: "user",
                inContainer: Self.container,
                tokenHash: Self.newToken
            )
            #expect(try await peer.refusal() == .notAuthenticated)
            _ = try await server.signIn(token: "new")
        }
    }

    @Test func `a rotated token is good until its time is over, in new connections and old ones`()
        async throws
    {
        let clock = ManualClock(milliseconds: ServerUnderTest.startMilliseconds)
        try await ServerUnderTest.run(clock: clock) { server in
            let old = try await server.signIn()
            try server.store.directory.rotateToken(
                ofUser: "user",
                inContainer: Self.container,
                tokenHash: Self.newToken,
                overlapMilliseconds: 60_000
            )
            let new = try await server.signIn(token: "new")
            let late = try await server.signIn()
            try await Self.settle()
            for (index, peer) in [old, new, late].enumerated() {
                try await peer.send(.fetchZones(FetchZones(scope: .private, selection: .all)), on: 1)
                #expect(try await peer.answer(on: 1).end.failure == nil, "\(index)")
            }
            clock.advance(milliseconds: 60_000)
            #expect(try await old.refusal() == .credentialExpired)
            #expect(try await late.refusal() == .credentialExpired)
            try await new.send(.fetchZones(FetchZones(scope: .private, selection: .all)), on: 3)
            #expect(try await new.answer(on: 3).end.failure == nil)
            let gone = try await server.connect()
            try await gone.send(.hello(token: ServerUnderTest.token))
            #expect(try await gone.refusal() == .notAuthenticated)
        }
    }

    @Test func `a key that is revoked ends its connections, and the service's other key does not`()
        async throws
    {
        try await ServerUnderTest.run { server in
            let (one, two) = (TestService(), TestService())
            try one.register(at: server, onBehalfOf: ["user"])
            try two.register(at: server)
            let (itself, _) = try await server.signIn(one)
            let (behalf, _) = try await server.signIn(one, onBehalfOf: "user")
            let (other, _) = try await server.signIn(two)
            #expect(
                try server.store.directory.revokeServiceKeys(
                    ofService: "shop",
                    keyID: one.keyID,
                    inContainer: Self.container
                ) == 1
            )
            #expect(try await itself.refusal() == .notAuthenticated)
            #expect(try await behalf.refusal() == .notAuthenticated)
            try await other.send(.publicSave("still"), on: 1)
            #expect(try await other.answer(on: 1).end.failure == nil)
        }
    }

    // MARK: - Identity tokens

    @Test func `a token of an identity provider signs its subject in, and adds him if that is wanted`()
        async throws
    {
        let provider = TestProvider()
        let tokens = try await provider.tokens(createsUsers: true)
        try await ServerUnderTest.run(identities: tokens) { server in
            let known = try await server.signIn(identityToken: provider.token(of: "user")).1
            #expect(known.userRecordName == ServerUnderTest.userRecordName)
            let (peer, welcome) = try await server.signIn(identityToken: provider.token(of: "auth0|ada"))
            #expect(NameRules.isUserRecordName(welcome.userRecordName))
            try await peer.send(.fetchZones(FetchZones(scope: .private, selection: .all)), on: 1)
            #expect(try await peer.answer(on: 1).items.count == 1)
            let again = try await server.signIn(identityToken: provider.token(of: "auth0|ada")).1
            #expect(again.userRecordName == welcome.userRecordName)
            let users = try server.store.directory.users(ofContainer: Self.container)
            #expect(users.map(\.name) == ["auth0|ada", "user"])
            // The user has no token of the server's, and is revoked like any other.
            try server.store.directory.revokeUser(named: "auth0|ada", inContainer: Self.container)
            #expect(try await peer.refusal() == .notAuthenticated)
            #expect(
                try await server.refusal(identityToken: provider.token(of: "auth0|ada")) == .notAuthenticated
            )
        }
    }

    @Test func `the end of a token is the end of its connections`() async throws {
        let provider = TestProvider()
        let tokens = try await provider.tokens(createsUsers: false)
        let clock = ManualClock(milliseconds: ServerUnderTest.startMilliseconds)
        try await ServerUnderTest.run(clock: clock, identities: tokens) { server in
            let short = try await server.signIn(identityToken: provider.token(of: "user", expiresIn: 60)).0
            let long = try await server.signIn(identityToken: provider.token(of: "user", expiresIn: 61)).0
            clock.advance(milliseconds: 60_000)
            #expect(try await short.refusal() == .credentialExpired)
            try await long.send(.fetchZones(FetchZones(scope: .private, selection: .all)), on: 1)
            #expect(try await long.answer(on: 1).end.failure == nil)
            #expect(
                try await server.refusal(identityToken: provider.token(of: "user", expiresIn: 60))
                    == .credentialExpired
            )
            clock.advance(milliseconds: 1_000)
            #expect(try await long.refusal() == .credentialExpired)
        }
    }

    @Test func `tokens that name nobody are refused alike, and the log alone says why`() async throws {
        let provider = TestProvider()
        let tokens = try await provider.tokens(createsUsers: false)
        try await ServerUnderTest.run(identities: tokens) { server in
            try TestService().register(at: server)
            let bad = [
                try provider.token(of: "stranger"), try provider.token(of: ""), try provider.token(of: "_x"),
                try provider.token(of: "a\nb"), try provider.token(of: "shop"),
                try provider.token(of: "user", audience: "iCloud.other"),
                try TestProvider().token(of: "user"), "a.b.c",
            ]
            for token in bad {
                #expect(try await server.refusal(identityToken: token) == .notAuthenticated)
            }
            #expect(server.log.complaints.count == bad.count)
            #expect(
                server.log.complaints.map { $0.metadata["detail"] }.contains(
                    "identity token: it is for another audience"
                )
            )
            let said = server.log.lines.map { "\($0)" }.joined()
            for token in bad where token.count > 10 { #expect(!said.contains(token)) }
        }
    }

    @Test func `a server that trusts no identity provider takes no token of one`() async throws {
        try await ServerUnderTest.run { server in
            let token = try TestProvider().token(of: "user")
            let reason = try await server.refusal(identityToken: token)
            #expect(reason == .notAuthenticated)
        }
    }

    // MARK: - Refusals

    @Test func `who is refused over and over is told later, and others at once`() async throws {
        try await ServerUnderTest.run { server in
            let clock = ContinuousClock()
            let begin = clock.now
            for _ in 0..<RefusalPace.burst { _ = try await server.refusal(identityToken: "a.b.c") }
            let start = clock.now
            // Some of the burst's time has come back meanwhile, one a second: of three more in a
            // row one must wait.
            let free = Int((start - begin) / .seconds(1))
            try await withThrowingTaskGroup(of: CloseReason?.self) { group in
                for _ in 0..<free + 3 {
                    group.addTask { try await server.refusal(identityToken: "a.b.c") }
                }
                _ = try await server.signIn()
                for try await reason in group { #expect(reason == .notAuthenticated) }
            }
            #expect(clock.now - start >= .seconds(1))
        }
    }

    /// Lets the server notice what changed, for tests that nothing ends.
    private static func settle() async throws {
        try await Task.sleep(for: .seconds(1))
    }
}

@Suite struct RefusalPaceTests {
    private func address(_ ip: String) throws -> SocketAddress { try SocketAddress(ipAddress: ip, port: 1) }

    @Test func `the registry says how many refusals are told at once`() throws {
        let registry = try ProtocolFiles.json("registry.json") as? [String: Any]
        let limits = try #require(registry?["limits"] as? [[String: Any]])
        let limit = limits.first { $0["name"] as? String == "refused_handshakes_max" }
        #expect(limit?["default"] as? Int == RefusalPace.burst)
    }

    @Test func `ten refusals are told at once, then one a second, for each network by itself`() {
        var pace = RefusalPace()
        let one = "192.0.2.1"
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        for _ in 0..<RefusalPace.burst { #expect(pace.refused(one, now: start) == .zero) }
        #expect(pace.refused(one, now: start) == RefusalPace.pause)
        #expect(pace.refused("192.0.2.2", now: start) == .zero)
        #expect(pace.refused(one, now: start + .milliseconds(999)) == RefusalPace.pause)
        #expect(pace.refused(one, now: start + .seconds(1)) == .zero)
        #expect(pace.refused(one, now: start + .seconds(1)) == RefusalPace.pause)
    }

    @Test(
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2"),
            ("2001:db8::1", "2001:db8:0:0"),
            ("::1", "0:0:0:0"), ("2001:db8:1:2::", "2001:db8:1:2"), ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
        ]
    )
    func `an IPv6 address counts with its network`(ip: String, network: String) throws {
        #expect(RefusalPace.network(of: try self.address(ip)) == network)
    }

    @Test func `what is remembered has a bound`() {
        var pace = RefusalPace()
        let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        for high in 0..<100 {
            for low in 0..<100 { _ = pace.refused("10.0.\(high).\(low)", now: now) }
        }
        #expect(pace.count <= 4_096)
    }
}

extension ServerUnderTest {
    fileprivate func refusal(identityToken: String) async throws -> CloseReason {
        let peer = try await self.connect()
        let hello = Hello(
            container: Self.container,
            environment: .development,
            accessToken: "",
            client: "test",
            identityToken: identityToken
        )
        try await peer.send(Frame(kind: .hello, payload: hello.encoded()))
        return try await peer.refusal()
    }
}
