import Synchronization

/// Whether PostgreSQL executes what it is asked for, as far as the last requests have shown.
///
/// A commit or a heartbeat that works shows that all does. A read shows nothing of writes, which a
/// standby refuses.
final class Reachability: Sendable {
    enum Side { case reads, writes }

    private let failing = Mutex<Set<Side>>([])
    /// The same, for those who have not locked.
    private let isFailing = Atomic<Bool>(false)
    private let notice: @Sendable (ClusterNotice) -> Void

    /// - Parameter notice: Is called from any thread.
    init(notice: @escaping @Sendable (ClusterNotice) -> Void) { self.notice = notice }

    func failed(_ side: Side) {
        self.failing.withLock {
            $0.insert(side)
            self.isFailing.store(true, ordering: .relaxed)
        }
    }

    func worked(_ side: Side) {
        guard self.isFailing.load(ordering: .relaxed) else { return }
        let isOver = self.failing.withLock { failing in
            guard !failing.isEmpty else { return false }
            if side == .writes { failing = [] } else { failing.remove(.reads) }
            self.isFailing.store(!failing.isEmpty, ordering: .relaxed)
            return failing.isEmpty
        }
        if isOver { self.notice(.answersAgain) }
    }
}
