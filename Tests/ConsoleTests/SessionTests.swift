import RecordModel
import TestSupport
import Testing

@testable import Console

/// The link, sessions, and what the fields of a request have to say.
@Suite
struct SessionTests {
    @Test
    func `a link is good once`() {
        var link = OneTimeLink(secret: "s", nowMilliseconds: 0)
        #expect(link.guessed("s", nowMilliseconds: 1) == .admit)
        #expect(link.guessed("s", nowMilliseconds: 2) == .refuse)
    }

    @Test
    func `a link is good for five minutes`() {
        let end = OneTimeLink.lifetimeMilliseconds
        var early = OneTimeLink(secret: "s", nowMilliseconds: 0)
        #expect(early.guessed("s", nowMilliseconds: end - 1) == .admit)
        var late = OneTimeLink(secret: "s", nowMilliseconds: 0)
        #expect(late.guessed("s", nowMilliseconds: end) == .refuse)
        #expect(late.guessed("s", nowMilliseconds: 0) == .refuse)
    }

    @Test
    func `the tenth wrong guess ends the console`() {
        var link = OneTimeLink(secret: "s", nowMilliseconds: 0)
        for _ in 1..<OneTimeLink.wrongMax { #expect(link.guessed("x", nowMilliseconds: 0) == .refuse) }
        // A new link is no new start.
        link.renew(secret: "t", nowMilliseconds: 0)
        #expect(link.guessed("s", nowMilliseconds: 0) == .stop)
    }

    @Test
    func `secrets have 128 bits, and differ`() {
        let secrets = Set((0..<1_000).map { _ in Secret.make() })
        #expect(secrets.count == 1_000)
        #expect(secrets.allSatisfy { $0.utf8.count == 32 })
    }

    @Test
    func `a session ends after eight hours without a request`() throws {
        let clock = ManualClock()
        let sessions = Sessions(secret: "s", now: { clock.milliseconds })
        guard case .begin(let cookie) = sessions.linkOpened("s") else {
            Issue.record("the link is refused")
            return
        }
        #expect(sessions.session(cookie: "x") == nil)
        clock.advance(milliseconds: Sessions.idleMilliseconds - 1)
        let session = try #require(sessions.session(cookie: cookie))
        clock.advance(milliseconds: Sessions.idleMilliseconds - 1)
        #expect(sessions.session(cookie: cookie) == session)
        clock.advance(milliseconds: Sessions.idleMilliseconds)
        #expect(sessions.session(cookie: cookie) == nil)
    }

    @Test
    func `a session that is left is no more, and others stay`() throws {
        let sessions = Sessions(secret: "s", now: { 0 })
        guard case .begin(let first) = sessions.linkOpened("s"),
            case .begin(let second) = sessions.linkOpened(sessions.newLink())
        else {
            Issue.record("a link is refused")
            return
        }
        sessions.leave(try #require(sessions.session(cookie: first)))
        #expect(sessions.session(cookie: first) == nil)
        #expect(sessions.session(cookie: second) != nil)
    }

    // MARK: Fields

    private static let ours = RequestOrigin(
        isGet: false,
        host: "127.0.0.1:8443",
        origin: "http://127.0.0.1:8443",
        fetchSite: "same-origin"
    )

    @Test(
        arguments: [
            ("127.0.0.1:8443", true), ("localhost:8443", true), ("[::1]:8443", true),
            ("127.0.0.1", false), ("127.0.0.1:8444", false), ("127.0.0.1:", false),
            ("127.0.0.1:8443x", false), ("127.0.0.1:-8443", false), ("evil.example:8443", false),
            ("localhost.evil.example:8443", false), ("127.0.0.1.nip.io:8443", false),
            ("127.0.0.2:8443", false), ("", false),
        ]
    )
    func `Host has to name this machine and the port`(host: String, isOurs: Bool) {
        var request = Self.ours
        request.isGet = true
        request.host = host
        let refusal = RequestRules(port: 8_443).refusal(of: request)
        #expect(refusal == (isOurs ? nil : .otherHost))
    }

    @Test
    func `behind a socket the tunnel chooses the port`() {
        var request = Self.ours
        request.isGet = true
        request.host = "localhost:9999"
        #expect(RequestRules(port: nil).refusal(of: request) == nil)
        request.host = "evil.example:9999"
        #expect(RequestRules(port: nil).refusal(of: request) == .otherHost)
        request.host = nil
        #expect(RequestRules(port: nil).refusal(of: request) == .otherHost)
    }

    @Test(
        arguments: [
            ("http://127.0.0.1:8443", "same-origin", true), ("http://127.0.0.1:8443", nil, false),
            ("http://127.0.0.1:8443", "same-site", false), ("http://127.0.0.1:8443", "cross-site", false),
            ("http://127.0.0.1:8443", "none", false), (nil, "same-origin", false),
            ("null", "same-origin", false), ("https://127.0.0.1:8443", "same-origin", false),
            ("http://localhost:8443", "same-origin", false), ("http://evil.example", "same-origin", false),
        ] as [(String?, String?, Bool)]
    )
    func `a change has to come from a page of the console`(
        origin: String?,
        fetchSite: String?,
        isOurs: Bool
    ) {
        var request = Self.ours
        request.origin = origin
        request.fetchSite = fetchSite
        #expect(RequestRules(port: 8_443).refusal(of: request) == (isOurs ? nil : .otherOrigin))
        // A page that is only read may be opened from anywhere.
        request.isGet = true
        #expect(RequestRules(port: 8_443).refusal(of: request) == nil)
    }

    @Test
    func `the cookie of another console is not ours`() {
        let field = "tidemark_console_1=a; tidemark_console_8443=b; x=c"
        #expect(SessionCookie.value(in: field, host: "127.0.0.1:8443") == "b")
        #expect(SessionCookie.value(in: field, host: "localhost:1") == "a")
        #expect(SessionCookie.value(in: field, host: "localhost:2") == nil)
        #expect(SessionCookie.value(in: nil, host: nil) == nil)
    }
}
