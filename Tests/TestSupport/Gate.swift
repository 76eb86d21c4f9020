import Foundation
import Synchronization

/// Holds a thread until a test lets it go.
package final class Gate: Sendable {
    private let condition = NSCondition()
    private let isOpen = Mutex(false)

    package init() {}

    package func open() {
        self.condition.withLock {
            self.isOpen.withLock { $0 = true }
            self.condition.broadcast()
        }
    }

    package func wait() {
        self.condition.withLock {
            while !self.isOpen.withLock({ $0 }) { self.condition.wait() }
        }
    }
}
