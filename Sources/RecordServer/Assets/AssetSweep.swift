import AssetStorage
import Logging
import NIOCore
import RecordStore
import Synchronization

/// Removes assets that nobody names any more: the registry marks them, their bytes go, then their
/// rows.
///
/// A crash between any two steps is made up for by the next sweep, since marks stay until the bytes
/// are gone.
final class AssetSweep: Sendable {
    /// Assets of one transaction.
    private static let batchMax = 1_000

    private let registry: AssetRegistry
    private let bytes: any AssetByteStore
    private let metrics: ServerMetrics
    private let logger: Logger
    /// Callers that wait for the sweep that runs; `nil` if none runs.
    private let waiting = Mutex<[@Sendable () -> Void]?>(nil)

    init(
        registry: AssetRegistry,
        bytes: any AssetByteStore,
        metrics: ServerMetrics,
        logger: Logger
    ) {
        self.registry = registry
        self.bytes = bytes
        self.metrics = metrics
        self.logger = logger
    }

    /// Sweeps, unless a sweep runs; `done` is called when the one that runs is through, on any
    /// thread.
    func sweep(done: @escaping @Sendable () -> Void = {}) {
        let isFirst = self.waiting.withLock { waiting in
            let isFirst = waiting == nil
            waiting = (waiting ?? []) + [done]
            return isFirst
        }
        if isFirst { self.removeBatch(removedBefore: 0) }
    }

    private func removeBatch(removedBefore: Int) {
        self.registry.removals(limit: Self.batchMax) { result in
            switch result {
            case .failure(let error): self.failed("\(error)", removed: removedBefore)
            case .success([]): self.end(removed: removedBefore)
            case .success(let numbers): self.removeBytes(of: numbers, removedBefore: removedBefore)
            }
        }
    }

    private func removeBytes(of numbers: [AssetNumber], removedBefore: Int) {
        self.bytes.remove(numbers) { result in
            switch result {
            case .failure(let error): self.failed("\(error)", removed: removedBefore)
            case .success: self.removeRows(of: numbers, removedBefore: removedBefore)
            }
        }
    }

    private func removeRows(of numbers: [AssetNumber], removedBefore: Int) {
        self.registry.removed(numbers) { result in
            let removed = removedBefore + numbers.count
            switch result {
            case .failure(let error): self.failed("\(error)", removed: removedBefore)
            case .success where numbers.count < Self.batchMax: self.end(removed: removed)
            case .success: self.removeBatch(removedBefore: removed)
            }
        }
    }

    private func failed(_ error: String, removed: Int) {
        self.logger.warning(
            "assets could not be removed, and are tried again",
            metadata: [LogKeys.error: "\(error)"]
        )
        self.end(removed: removed)
    }

    private func end(removed: Int) {
        if removed > 0 {
            self.metrics.assetsRemoved(removed)
            self.logger.info(
                "removed assets that no record names",
                metadata: [LogKeys.assets: .stringConvertible(removed)]
            )
        }
        let waiting = self.waiting.withLock { waiting in
            let taken = waiting ?? []
            waiting = nil
            return taken
        }
        for done in waiting { done() }
    }
}
