private import Foundation

/// Runs the user's callbacks in order, one at a time, never on the caller's thread.
///
/// It is a queue of Foundation and not a task, because published callbacks wait on semaphores. A
/// callback that blocks must cost a thread of its own, not one of the few that run the connection
/// and all tasks.
struct CallbackQueue: Sendable {
    private let queue: OperationQueue

    init(name: String) {
        self.queue = OperationQueue()
        self.queue.name = name
        self.queue.maxConcurrentOperationCount = 1
    }

    func run(_ callback: @escaping @Sendable () -> Void) {
        // The queue lives until its callbacks have run, even if it was released elsewhere.
        self.queue.addOperation { [queue] in
            withExtendedLifetime(queue) { callback() }
        }
    }
}
