import Synchronization

/// What callers on other threads ask of a client, collected until its event loop takes it.
///
/// However many threads post within one tick, the loop is woken once. Unbounded: what waits here is the callers' memory,
/// and the loop empties it each tick.
final class Mailbox: Sendable {
    enum Message: Sendable {
        case cancel(number: UInt64)
    }
    private struct State {
        var messages: [Message] = []
        var nextNumber: UInt64 = 1
    }

    private let state = Mutex(State())

    /// Adds a message.
    func post(_ message: Message) {
        self.state.withLock { $0.messages.append(message) }
    }
}
