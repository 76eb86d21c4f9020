import StorageContract
import Synchronization

/// Counts the outcomes of requests for changes since the start of the store.
final class WriteCounters: Sendable {
    private let committed = Atomic<UInt64>(0)
    private let recordsWritten = Atomic<UInt64>(0)
    private let replayed = Atomic<UInt64>(0)
    private let refused = Atomic<UInt64>(0)

    /// Counts a request once its transaction is durable.
    func count(_ result: Result<[WriteOutcome], StoreError>, isReplay: Bool) {
        guard case .success(let outcomes) = result else {
            self.refused.add(1, ordering: .relaxed)
            return
        }
        self.committed.add(1, ordering: .relaxed)
        guard !isReplay else {
            self.replayed.add(1, ordering: .relaxed)
            return
        }
        self.recordsWritten.add(UInt64(outcomes.count { $0.isRecordWritten }), ordering: .relaxed)
    }

    /// Counts a request that was rolled back for a fault of the server.
    func countFault() { self.refused.add(1, ordering: .relaxed) }

    func add(to statistics: inout EngineStatistics) {
        statistics.requestsCommitted += self.committed.load(ordering: .relaxed)
        statistics.recordsWritten += self.recordsWritten.load(ordering: .relaxed)
        statistics.requestsReplayed += self.replayed.load(ordering: .relaxed)
        statistics.requestsRefused += self.refused.load(ordering: .relaxed)
    }
}

extension WriteOutcome {
    fileprivate var isRecordWritten: Bool {
        switch self {
        case .recordSaved, .deleted: true
        case .zoneSaved, .subscriptionSaved, .shareAccepted, .done, .failed: false
        }
    }
}
