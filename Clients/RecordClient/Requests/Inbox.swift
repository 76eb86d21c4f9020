import Synchronization

/// What a session has been sent and has not taken.
final class Inbox: Sendable {
    private struct State {
        var messages: [Mailbox.Message] = []
        /// The session looks before the loop goes on: nobody need wake it.
        var isAttended = false
    }

    private let state = Mutex(State())

    /// Adds a message.
    ///
    /// `true`: the event loop must be woken.
    func add(_ message: Mailbox.Message) -> Bool {
        self.state.withLock { state in
            state.messages.append(message)
            return state.messages.count == 1 && !state.isAttended
        }
    }

    /// The session will take what comes, at the end of what it does now.
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
