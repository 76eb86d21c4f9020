private import Foundation
private import Synchronization

/// Runs the user's callbacks in order, one at a time, never on the caller's thread.
///
/// It is a queue of Foundation and not a task, because published callbacks wait on semaphores. A
/// callback that blocks must cost a thread of its own, not one of the few that run the connection
/// and all tasks.
///
/// Callbacks that wait are run together: the way to another thread costs as much as reading several
/// records.
final class CallbackQueue: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let queue: OperationQueue
    private let state = Mutex(State())

    init(name: String) {
        self.queue = OperationQueue()
        self.queue.name = name
        self.queue.maxConcurrentOperationCount = 1
    }

    func run(_ callback: @escaping @Sendable () -> Void) {
        let starts = self.state.withLock { state in
            state.waiting.append(callback)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { self.queue.addOperation { self.runWaiting() } }
    }

    private func runWaiting() {
        while let callbacks = self.next() {
            for callback in callbacks { callback() }
        }
    }

    /// Returns the callbacks that wait; `nil` if none does.
    private func next() -> [@Sendable () -> Void]? {
        self.state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
