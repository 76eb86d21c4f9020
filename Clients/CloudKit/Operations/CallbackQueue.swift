private import Foundation

/// Runs callbacks of the user's code in order, one at a time, never on the caller's thread.
///
/// A queue of Foundation's and not a task: published callbacks wait on semaphores, and one that blocks must cost a thread of
/// its own, not one of the few on which the connection and everybody's tasks run.
struct CallbackQueue: Sendable {
    private let queue: OperationQueue

    init(name: String) {
        self.queue = OperationQueue()
        self.queue.name = name
        self.queue.maxConcurrentOperationCount = 1
    }

    func run(_ callback: @escaping @Sendable () -> Void) {
        // The queue lives until its callbacks have run, whoever else has let go of it.
        self.queue.addOperation { [queue] in
            withExtendedLifetime(queue) { callback() }
        }
    }
}
