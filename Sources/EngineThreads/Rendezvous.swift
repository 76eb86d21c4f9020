/// A value that one thread waits for and another provides, once.
///
/// SAFETY: `value` is read and written only while the condition is locked.
package final class Rendezvous<Value>: @unchecked Sendable {
    private let condition = ThreadCondition()
    private var value: Value?

    package init() {}

    package func fill(_ value: sending Value) {
        self.condition.lock()
        defer { self.condition.unlock() }
        self.value = .some(value)
        self.condition.signal()
    }

    package func wait() -> Value {
        self.condition.withLock {
            while true {
                if let value = self.value { return value }
                self.condition.wait()
            }
        }
    }
}
