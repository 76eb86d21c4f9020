import Synchronization

/// Something to find out, by whichever thread comes to it first; whoever wants the result by then waits for that one, or does it.
///
/// So two threads share the work of one when another is free, and nobody waits for a thread that is not: jobs of a pool may wait for it.
final class SharedJob<Value: Sendable>: Sendable {
    private let work: @Sendable () -> Value
    /// Locked while the work is done.
    private let value = Mutex<Value?>(nil)

    init(_ work: @escaping @Sendable () -> Value) {
        self.work = work
    }

    var result: Value {
        self.value.withLock { value in
            if let value { return value }
            let made = self.work()
            value = made
            return made
        }
    }
}
