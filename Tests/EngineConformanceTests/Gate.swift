import Foundation
import Synchronization

/// Holds a thread until a test lets it go.
final class Gate: Sendable {
    private let condition = NSCondition()
    private let isOpen = Mutex(false)

    func open() {
        self.condition.withLock {
            self.isOpen.withLock { $0 = true }
            self.condition.broadcast()
        }
    }

    func wait() {
        self.condition.withLock {
            while !self.isOpen.withLock({ $0 }) { self.condition.wait() }
        }
    }
}
