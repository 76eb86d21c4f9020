import RecordModel
import NIOCore
import Synchronization
import Testing
import WireProtocol

@testable import RecordClient

/// Gives tokens when the test says so.
private final class ScriptedProvider: Sendable {
    private let waiting = Mutex<[ClientCredential.TokenReply]>([])
    private let calls = Mutex(0)

    /// How often it was asked.
    var asked: Int { self.calls.withLock { $0 } }

    var credential: ClientCredential {
        .provided { reply in
            self.calls.withLock { $0 += 1 }
            self.waiting.withLock { $0.append(reply) }
        }
    }

    func answer(_ result: Result<String, ClientCredential.TokenFailure>) {
        let waiting = self.waiting.withLock { waiting in
            let taken = waiting
            waiting = []
            return taken
        }
        for reply in waiting { reply(result) }
    }
}

/// Tokens, keys, and when a provider is asked.
@Suite struct CredentialTests {
    private func hello(_ connection: ScriptedConnection) throws -> Hello {
        connection.agree(on: "tidemark/1")
        let frame = try #require(try connection.frames().first)
        return try Hello(decoding: frame.payload)
    }

    /// To a client that has said hello.
    private func welcome(_ connection: ScriptedConnection) throws {
        let welcome = Welcome(
            version: 1,
            server: "scripted",
            userRecordName: "_user",
            serverTimeMilliseconds: 1_700_000_000_000,
            limits: .defaults,
            windows: .defaults
        )
        try connection.send(.welcome, welcome.encoded())
    }

    @Test(arguments: [("tmk_a-b_c", true), ("a.b.c", false), ("a.b", true), ("a.b.c.d", true), ("..", false)])
    func `a token with two dots is an identity provider's`(token: String, isOwn: Bool) throws {
        let server = ScriptedServer { $0.credential = .token(token) }
        _ = server.start(.fetch(1))
        let hello = try self.hello(server.connections[0])
        #expect(hello.accessToken == (isOwn ? token : ""))
        #expect(hello.identityToken == (isOwn ? "" : token))
    }

    @Test func `a provider is asked once, and its token is used for every connection`() throws {
        let provider = ScriptedProvider()
        let server = ScriptedServer { $0.credential = provider.credential }
        let request = server.start(.fetch(1))
        #expect(provider.asked == 1)
        #expect(server.connections.isEmpty)
        provider.answer(.success("a.b.c"))
        server.tick()
        let first = try #require(server.connections.first)
        #expect(try self.hello(first).identityToken == "a.b.c")
        try self.welcome(first)
        first.breakOff()
        server.pass(.seconds(1))
        #expect(server.connections.count == 2)
        #expect(try self.hello(server.connections[1]).identityToken == "a.b.c")
        #expect(provider.asked == 1)
        #expect(request.answer.events.isEmpty)
    }

    @Test(arguments: [CloseReason.credentialExpired, .notAuthenticated])
    func `a token that was good and is no longer is asked for again, and requests go on`(
        reason: CloseReason
    ) throws {
        let provider = ScriptedProvider()
        let server = ScriptedServer { $0.credential = provider.credential }
        let request = server.start(.fetch(1))
        provider.answer(.success("old"))
        server.tick()
        let first = try #require(server.connections.first)
        _ = try self.hello(first)
        try self.welcome(first)
        #expect(try first.requests().count == 1)
        try first.goAway(reason)
        server.pass(.seconds(1))
        #expect(provider.asked == 2)
        #expect(request.answer.events.isEmpty)
        provider.answer(.success("new"))
        server.tick()
        let second = try #require(server.connections.last)
        #expect(try self.hello(second).accessToken == "new")
        try self.welcome(second)
        #expect(try second.requests().count == 1)
    }

    @Test func `a new token that is refused at once fails the request, and the next one asks anew`() throws {
        let provider = ScriptedProvider()
        let server = ScriptedServer { $0.credential = provider.credential }
        let request = server.start(.fetch(1))
        provider.answer(.success("bad"))
        server.tick()
        let first = try #require(server.connections.first)
        _ = try self.hello(first)
        try first.goAway(.notAuthenticated)
        #expect(request.answer.events == [.failure(.rejected(reason: .notAuthenticated, message: "bye"))])
        #expect(provider.asked == 1)
        _ = server.start(.fetch(1))
        server.pass(.seconds(1))
        #expect(provider.asked == 2)
    }

    @Test func `a provider that fails, or does not answer, fails the requests that wait`() throws {
        let provider = ScriptedProvider()
        let server = ScriptedServer { $0.credential = provider.credential }
        let request = server.start(.fetch(1))
        provider.answer(.failure(.init("signed out")))
        server.tick()
        #expect(
            request.answer.events == [
                .failure(.unreachable(description: "the token provider failed: signed out"))
            ]
        )
        let second = server.start(.fetch(1))
        server.pass(.seconds(1))
        #expect(provider.asked == 2)
        server.pass(.seconds(10))
        #expect(
            second.answer.events == [
                .failure(
                    .unreachable(description: "the token provider failed: no answer within 10.0 seconds")
                )
            ]
        )
        // What comes too late is not used.
        provider.answer(.success("late"))
        server.tick()
        #expect(server.connections.isEmpty)
    }

    @Test(arguments: [
        "two words", "line\n", String(repeating: "a", count: 1_025), "é",
        "a.b." + String(repeating: "c", count: 3_069),
    ])
    func `a token that no server can take fails the requests that wait, without a connection`(
        token: String
    ) throws {
        let provider = ScriptedProvider()
        let server = ScriptedServer { $0.credential = provider.credential }
        let request = server.start(.fetch(1))
        provider.answer(.success(token))
        server.tick()
        guard case .failure(.misconfigured(let text))? = request.answer.events.first else {
            Issue.record("\(request.answer.events)")
            return
        }
        #expect(text.contains("can't work"))
        #expect(server.connections.isEmpty)
    }

    @Test func `tokens of the longest size can work`() {
        #expect(ClientCredential.fault(ofToken: String(repeating: "a", count: 1_024)) == nil)
        #expect(ClientCredential.fault(ofToken: "a.b." + String(repeating: "c", count: 3_068)) == nil)
    }

    @Test func `a fixed token that has expired fails the request`() throws {
        let server = ScriptedServer()
        let request = server.start(.fetch(1))
        let connection = try server.accept()
        try connection.goAway(.credentialExpired)
        #expect(request.answer.events == [.failure(.rejected(reason: .credentialExpired, message: "bye"))])
    }

    // MARK: - The machine

    @Test func `a challenge is answered once, and by a service alone`() {
        var service = ClientStateMachine(windows: .defaults, expectsChallenge: true)
        _ = service.connected()
        let first = service.challengeReceived()
        #expect(first == .prove)
        let second = service.challengeReceived()
        #expect(second == .close(.frameUnexpected))

        var user = ClientStateMachine(windows: .defaults)
        _ = user.connected()
        let unasked = user.challengeReceived()
        #expect(unasked == .close(.frameUnexpected))
    }

    @Test func `a service that is welcomed without a challenge trusts the server no more`() {
        var machine = ClientStateMachine(windows: .defaults, expectsChallenge: true)
        _ = machine.connected()
        let welcome = Welcome(
            version: 1,
            server: "",
            userRecordName: "",
            serverTimeMilliseconds: 0,
            limits: .defaults,
            windows: .defaults
        )
        let onWelcome = machine.welcomeReceived(welcome)
        #expect(onWelcome == .close(.frameUnexpected))
    }
}
