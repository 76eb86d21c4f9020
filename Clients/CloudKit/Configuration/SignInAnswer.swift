private import Foundation
private import Synchronization

/// The server's last response to a connection's token: accepted or refused.
final class SignInAnswer: Sendable {
    private struct State {
        /// `nil` if there was no response yet.
        var last: Bool?
        /// Whether the app was told that the server takes no connections, and waits for a definite
        /// status.
        var isAwaited = false
    }

    private let state = Mutex(State())

    /// Whether the app waits for a definite status of the server.
    var isAwaited: Bool { self.state.withLock { $0.isAwaited } }

    /// Stores the server's response to the token; posts `CKAccountChanged` if it differs from the
    /// last one, or if the app waits for it.
    func note(isAccepted: Bool) {
        let isNews = self.state.withLock { state in
            defer { state = State(last: isAccepted) }
            return state.isAwaited || state.last.map { $0 != isAccepted } ?? false
        }
        if isNews { NotificationCenter.default.post(name: .CKAccountChanged, object: nil) }
    }

    /// Notes that the app was told that the server takes no connections: any later response is
    /// posted.
    ///
    /// - Returns: Whether the app did not wait already.
    func await() -> Bool {
        self.state.withLock { state in
            defer { state.isAwaited = true }
            return !state.isAwaited
        }
    }
}
