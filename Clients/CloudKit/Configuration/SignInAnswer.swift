private import Foundation
private import Synchronization

/// What the server last said to a connection's token: accepted or not.
final class SignInAnswer: Sendable {
    private struct State {
        /// `nil`: it has not said anything yet.
        var last: Bool?
        /// Whether the app was told that the server takes no connections, and waits to hear that it says something.
        var isAwaited = false
    }

    private let state = Mutex(State())

    /// Whether the app waits to hear that the server says something again.
    var isAwaited: Bool { self.state.withLock { $0.isAwaited } }

    /// Takes up what the server said, and posts `CKAccountChanged` when it said something else before, or the app waits for it.
    func note(isAccepted: Bool) {
        let isNews = self.state.withLock { state in
            defer { state = State(last: isAccepted) }
            return state.isAwaited || state.last.map { $0 != isAccepted } ?? false
        }
        if isNews { NotificationCenter.default.post(name: .CKAccountChanged, object: nil) }
    }

    /// The app is told that the server takes no connections: whatever it says next is news.
    ///
    /// - Returns: Whether the app did not wait already.
    func await() -> Bool {
        self.state.withLock { state in
            defer { state.isAwaited = true }
            return !state.isAwaited
        }
    }
}
