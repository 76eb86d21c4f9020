package import StorageContract
import Synchronization

/// Whether a storage works, judged by the last requests.
///
/// A successful commit or heartbeat shows that reads and writes work. A read shows nothing about
/// writes, which a standby or a full disk refuses.
package final class Reachability: Sendable {
    package enum Side: Sendable { case reads, writes }

    private let failing = Mutex<Set<Side>>([])
    /// The same state, readable without the lock.
    private let isFailing = Atomic<Bool>(false)
    private let report: @Sendable (EngineEvent) -> Void

    /// - Parameter report: Called from any thread.
    package init(report: @escaping @Sendable (EngineEvent) -> Void) { self.report = report }

    package func failed(_ side: Side) {
        self.failing.withLock {
            $0.insert(side)
            self.isFailing.store(true, ordering: .relaxed)
        }
    }

    package func worked(_ side: Side) {
        guard self.isFailing.load(ordering: .relaxed) else { return }
        let isOver = self.failing.withLock { failing in
            guard !failing.isEmpty else { return false }
            if side == .writes { failing = [] } else { failing.remove(.reads) }
            self.isFailing.store(!failing.isEmpty, ordering: .relaxed)
            return failing.isEmpty
        }
        if isOver { self.report(.storageAvailable) }
    }
}
