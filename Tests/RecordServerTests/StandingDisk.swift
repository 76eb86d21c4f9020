import Foundation
import Synchronization

/// Makes nothing durable until it may.
final class StandingDisk: Sendable {
    private let condition = NSCondition()
    private let isHeld = Mutex(false)

    func sync(_ descriptor: Int32) -> Int32 {
        self.condition.withLock {
            while self.isHeld.withLock({ $0 }) { self.condition.wait() }
        }
        return fdatasync(descriptor) == 0 ? 0 : errno
    }

    func hold() { self.isHeld.withLock { $0 = true } }

    func release() {
        self.condition.withLock {
            self.isHeld.withLock { $0 = false }
            self.condition.broadcast()
        }
    }
}
