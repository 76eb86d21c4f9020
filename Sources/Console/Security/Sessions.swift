import Synchronization
import SystemCrypto

/// The browsers that came with a link, and the link for the next one.
///
/// A session ends with the process, when it is left, or after eight hours without a request.
final class Sessions: Sendable {
    static let idleMilliseconds: Int64 = 8 * 60 * 60 * 1_000
    /// The oldest goes for another.
    static let sessionsMax = 8

    private struct State {
        var link: OneTimeLink
        var sessions: [(cookieHash: [UInt8], session: Session, usedMilliseconds: Int64)] = []
    }

    private let state: Mutex<State>
    private let now: @Sendable () -> Int64

    init(secret: String, now: @escaping @Sendable () -> Int64) {
        self.now = now
        self.state = Mutex(State(link: OneTimeLink(secret: secret, nowMilliseconds: now())))
    }

    enum OnLink: Equatable {
        /// The value of the cookie.
        case begin(cookie: String)
        case refuse
        case stop
    }

    /// A browser came with the secret of a link.
    func linkOpened(_ secret: String) -> OnLink {
        let now = self.now()
        return self.state.withLock { state in
            switch state.link.guessed(secret, nowMilliseconds: now) {
            case .refuse: return .refuse
            case .stop: return .stop
            case .admit:
                let cookie = Secret.make()
                if state.sessions.count >= Self.sessionsMax { state.sessions.removeFirst() }
                state.sessions.append((Secret.hash(cookie), Session(formSecret: Secret.make()), now))
                return .begin(cookie: cookie)
            }
        }
    }

    /// The session of a cookie; `nil` if there is none, or if it has ended.
    func session(cookie: String) -> Session? {
        let now = self.now()
        let hash = Secret.hash(cookie)
        return self.state.withLock { state in
            state.sessions.removeAll { $0.usedMilliseconds + Self.idleMilliseconds <= now }
            let offset = state.sessions.firstIndex { ConstantTime.areEqual($0.cookieHash, hash) }
            guard let offset else { return nil }
            state.sessions[offset].usedMilliseconds = now
            return state.sessions[offset].session
        }
    }

    /// Ends a session; others stay.
    func leave(_ session: Session) {
        self.state.withLock { state in state.sessions.removeAll { $0.session == session } }
    }

    /// Makes the secret of another link; the one before is void.
    func newLink() -> String {
        let secret = Secret.make()
        let now = self.now()
        self.state.withLock { $0.link.renew(secret: secret, nowMilliseconds: now) }
        return secret
    }
}

/// A browser that was admitted.
struct Session: Hashable, Sendable {
    /// Every form has it, and nothing is changed without it.
    let formSecret: String

    func admits(formSecret: String?) -> Bool {
        formSecret.map { ConstantTime.areEqual(Secret.hash($0), Secret.hash(self.formSecret)) } ?? false
    }
}
