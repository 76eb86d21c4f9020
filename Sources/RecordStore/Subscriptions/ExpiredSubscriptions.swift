import StorageContract
import Synchronization

/// Subscriptions that have fired, were to fire once, and are to be deleted: all that wait share a
/// transaction.
final class ExpiredSubscriptions: Sendable {
    private struct State {
        var waiting: Set<SubscriptionKey> = []
        /// Whether a pending job takes the waiting subscriptions.
        var isExpiring = false
    }

    private let state = Mutex(State())

    /// Adds some; whether a job has to be asked for that deletes them.
    func add(_ subscriptions: Set<SubscriptionKey>) -> Bool {
        self.state.withLock { state in
            state.waiting.formUnion(subscriptions)
            guard !state.isExpiring else { return false }
            state.isExpiring = true
            return true
        }
    }

    /// Takes all that wait for a job; its earlier execution, if there was one, took `taken`.
    ///
    /// Those that come later need another job.
    func take(with taken: Set<SubscriptionKey>) -> Set<SubscriptionKey> {
        self.state.withLock { state in
            state.isExpiring = false
            defer { state.waiting = [] }
            return state.waiting.union(taken)
        }
    }

    /// A job is not executed: the waiting subscriptions are forgotten.
    func abandon() {
        self.state.withLock { state in
            state.isExpiring = false
            state.waiting = []
        }
    }
}
