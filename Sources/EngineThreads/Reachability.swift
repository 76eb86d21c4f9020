package import RecordStore
import Synchronization

/// Whether a storage executes what it is asked for, as far as the last requests have shown.
///
/// A commit or a heartbeat that works shows that all does. A read shows nothing of writes, which a
/// standby or a full disk refuses.
package final class Reachability: Sendable {
    package enum Side: Sendable { case reads, writes }

    private let failing = Mutex<Set<Side>>([])
    /// The same, for those who have not locked.
    private let isFailing = Atomic<Bool>(false)
    private let report: @Sendable (EngineEvent) -> Void

    /// - Parameter report: Is called from any thread.
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
