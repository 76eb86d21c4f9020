import Synchronization

/// The messages that a session was sent and has not taken.
final class Inbox: Sendable {
    private struct State {
        var messages: [Mailbox.Message] = []
        /// Whether the session looks before the loop goes on, so that no wake-up is needed.
        var isAttended = false
    }

    private let state = Mutex(State())

    /// Adds a message.
    ///
    /// - Returns: Whether the event loop must be woken.
    func add(_ message: Mailbox.Message) -> Bool {
        self.state.withLock { state in
            state.messages.append(message)
            return state.messages.count == 1 && !state.isAttended
        }
    }

    /// Announces that the session will take new messages at the end of its current work.
    func attend() {
        self.state.withLock { $0.isAttended = true }
    }

    func takeAll() -> [Mailbox.Message] {
        self.state.withLock { state in
            let taken = state.messages
            state = State()
            return taken
        }
    }
}
