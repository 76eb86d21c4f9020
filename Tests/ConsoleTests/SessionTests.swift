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

    private static let host = ConsoleHost()

    private static func request(
        host: String? = "\(Self.host.name):8443",
        isGet: Bool = true,
        origin: String? = nil,
        fetchSite: String? = nil
    ) -> RequestOrigin {
        RequestOrigin(isGet: isGet, host: host, origin: origin, fetchSite: fetchSite)
    }

    @Test(
        arguments: [
            ("NAME:8443", true), ("NAME", false), ("NAME:8444", false), ("NAME:", false),
            ("NAME:8443x", false), ("NAME:-8443", false), ("NAME.evil.example:8443", false),
            ("x.NAME:8443", false), ("127.0.0.1:8443", false), ("localhost:8443", false),
            ("[::1]:8443", false), ("evil.example:8443", false), ("", false),
        ]
    )
    func `Host has to be the console's own, with its port`(host: String, isOurs: Bool) {
        let request = Self.request(host: host.replacing("NAME", with: Self.host.name))
        let refusal = RequestRules(host: Self.host, port: 8_443).refusal(of: request)
        #expect(refusal == (isOurs ? nil : .otherHost))
    }

    @Test
    func `no two consoles have one host`() {
        #expect(Set((0..<100).map { _ in ConsoleHost().name }).count == 100)
    }

    @Test
    func `behind a socket the tunnel chooses the port`() {
        let rules = RequestRules(host: Self.host, port: nil)
        #expect(rules.refusal(of: Self.request(host: Self.host.name + ":9999")) == nil)
        #expect(rules.refusal(of: Self.request(host: "localhost:9999")) == .otherHost)
        #expect(rules.refusal(of: Self.request(host: nil)) == .otherHost)
    }

    @Test(
        arguments: [
            ("http://NAME:8443", "same-origin", true), ("http://NAME:8443", nil, false),
            ("http://NAME:8443", "same-site", false), ("http://NAME:8443", "cross-site", false),
            ("http://NAME:8443", "none", false), (nil, "same-origin", false),
            ("null", "same-origin", false), ("https://NAME:8443", "same-origin", false),
            ("http://localhost:8443", "same-origin", false), ("http://evil.example", "same-origin", false),
        ] as [(String?, String?, Bool)]
    )
    func `a change has to come from a page of the console`(
        origin: String?,
        fetchSite: String?,
        isOurs: Bool
    ) {
        let origin = origin?.replacing("NAME", with: Self.host.name)
        let rules = RequestRules(host: Self.host, port: 8_443)
        let change = Self.request(isGet: false, origin: origin, fetchSite: fetchSite)
        #expect(rules.refusal(of: change) == (isOurs ? nil : .otherOrigin))
        // A page that is only read may be opened from anywhere.
        let page = Self.request(isGet: true, origin: origin, fetchSite: fetchSite)
        #expect(rules.refusal(of: page) == nil)
    }

    @Test
    func `the cookie of another program is not ours`() {
        #expect(SessionCookie.value(in: "x=c; tidemark_console=b; tidemark_console2=a") == "b")
        #expect(SessionCookie.value(in: "tidemark=b") == nil)
        #expect(SessionCookie.value(in: nil) == nil)
    }
}
