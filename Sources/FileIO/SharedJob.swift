import Synchronization

/// A result that the first thread to reach it computes.
///
/// Other threads wait for that one, or compute it.
///
/// Two threads can share work if one is idle, and no thread ever waits for one that has not begun.
/// So jobs of a pool may wait for it.
package final class SharedJob<Value: Sendable>: Sendable {
    private let work: @Sendable () -> Value
    /// Locked while the result is computed.
    private let value = Mutex<Value?>(nil)

    package init(_ work: @escaping @Sendable () -> Value) {
        self.work = work
    }

    package var result: Value {
        self.value.withLock { value in
            if let value { return value }
            let made = self.work()
            value = made
            return made
        }
    }
}
