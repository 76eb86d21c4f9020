private import Foundation
private import Synchronization

/// The server's last response to a connection's token: accepted, refused, or restricted.
final class SignInResponse: Sendable {
    private enum Response { case accepted, refused, restricted }

    private struct State {
        /// `nil` if there was no response yet.
        var last: Response?
        /// Whether the app knows that the server takes no connections, and waits for a definite
        /// status.
        var isAwaited = false
    }

    private let state = Mutex(State())

    /// Whether the app waits for a definite status of the server.
    var isAwaited: Bool { self.state.withLock { $0.isAwaited } }

    /// Stores the server's response to the token; posts `CKAccountChanged` if it differs from the
    /// last one, or if the app waits for it.
    func note(isAccepted: Bool) {
        let response = isAccepted ? Response.accepted : .refused
        let isNew = self.state.withLock { state in
            defer { state = State(last: response) }
            return state.isAwaited || state.last.map { $0 != response } ?? false
        }
        if isNew { NotificationCenter.default.post(name: .CKAccountChanged, object: nil) }
    }

    /// Stores that the server executes no request of the user; posts `CKAccountChanged` if it did
    /// before, or if the app waits for a status.
    func noteRestriction() {
        let isNew = self.state.withLock { state in
            defer { state.last = .restricted }
            return state.last != .restricted && (state.isAwaited || state.last != nil)
        }
        if isNew { NotificationCenter.default.post(name: .CKAccountChanged, object: nil) }
    }

    /// Notes that the app knows that the server takes no connections, or executes no requests.
    ///
    /// Any other response is posted.
    ///
    /// - Returns: Whether the app did not wait already.
    func await() -> Bool {
        self.state.withLock { state in
            defer { state.isAwaited = true }
            return !state.isAwaited
        }
    }
}
