import Foundation

/// Reads that wait for a thread, bounded in number; beyond it the newcomer is refused.
///
/// SAFETY: the variables are read and written only while the condition is locked.
final class ReadQueue: @unchecked Sendable {
    enum Admission {
        case admitted
        case full
        case closed
    }

    private let condition = NSCondition()
    private var reads: [ReadPool.Read] = []
    private var closed = false
    private let readsMax: Int

    init(readsMax: Int) {
        self.readsMax = readsMax
    }

    var isClosed: Bool { self.condition.withLock { self.closed } }

    func add(_ read: @escaping ReadPool.Read) -> Admission {
        self.condition.withLock {
            guard !self.closed else { return .closed }
            guard self.reads.count < self.readsMax else { return .full }
            self.reads.append(read)
            self.condition.signal()
            return .admitted
        }
    }

    /// The oldest; waits for one.
    ///
    /// `nil` when the queue is closed and empty.
    func take() -> ReadPool.Read? {
        self.condition.withLock {
            while self.reads.isEmpty {
                if self.closed { return nil }
                self.condition.wait()
            }
            return self.reads.removeFirst()
        }
    }

    func close() {
        self.condition.withLock {
            self.closed = true
            self.condition.broadcast()
        }
    }
}
