import AssetStorage
import Logging
import NIOCore
import RecordStore
import StorageContract
import Synchronization

/// Removes unreferenced assets: the registry marks them, then their files are deleted, then their
/// rows.
///
/// The next sweep repairs a crash between two steps, since marks stay until the files are gone.
final class AssetSweep: Sendable {
    /// Maximum number of assets of one transaction.
    private static let batchMax = 1_000

    private let registry: AssetRegistry
    private let bytes: any AssetByteStore
    private let metrics: ServerMetrics
    private let faults: FaultLog
    private let state = Mutex(State())

    private struct State {
        /// Callers that wait for the running sweep; `nil` if none runs.
        var waiting: [@Sendable () -> Void]?
        /// Whether the disk has been full since the last sweep began.
        var isPressed = false
    }

    /// Interval of sweeps while the disk is full.
    static let pressedInterval = TimeAmount.seconds(2)

    init(
        registry: AssetRegistry,
        bytes: any AssetByteStore,
        metrics: ServerMetrics,
        faults: FaultLog
    ) {
        self.registry = registry
        self.bytes = bytes
        self.metrics = metrics
        self.faults = faults
    }

    /// Starts a sweep unless one is running; `done` is called at its end, on any thread.
    func sweep(done: @escaping @Sendable () -> Void = {}) {
        let isFirst = self.state.withLock { state in
            let isFirst = state.waiting == nil
            state.waiting = (state.waiting ?? []) + [done]
            return isFirst
        }
        if isFirst { self.removeBatch(removedBefore: 0) }
    }

    /// Removes assets early, because the disk is full.
    func makeRoom() {
        self.state.withLock { $0.isPressed = true }
        self.sweep()
    }

    private func removeBatch(removedBefore: Int) {
        let isPressed = self.state.withLock { state in
            defer { state.isPressed = false }
            return state.isPressed
        }
        self.registry.removals(limit: Self.batchMax, isPressed: isPressed) { result in
            switch result {
            case .failure(let error): self.failed("\(error)", removed: removedBefore)
            case .success([]): self.end(removed: removedBefore)
            case .success(let numbers):
                // The refused write needs the space of all removable assets.
                if isPressed, numbers.count == Self.batchMax { self.state.withLock { $0.isPressed = true } }
                self.removeBytes(of: numbers, removedBefore: removedBefore)
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
        self.faults.tell(
            "assets could not be removed, and are tried again",
            level: .warning,
            metadata: [LogKeys.error: "\(error)"]
        )
        // In the next interval, not at once.
        self.state.withLock { $0.isPressed = false }
        self.end(removed: removed)
    }

    private func end(removed: Int) {
        if removed > 0 {
            self.metrics.assetsRemoved(removed)
            self.faults.logger.info(
                "removed assets that no record names",
                metadata: [LogKeys.assets: .stringConvertible(removed)]
            )
        }
        let (waiting, isPressed) = self.state.withLock { state in
            let taken = state.waiting ?? []
            // A caller reported a full disk after the sweep had begun.
            state.waiting = state.isPressed ? [] : nil
            return (taken, state.isPressed)
        }
        for done in waiting { done() }
        if isPressed { self.removeBatch(removedBefore: 0) }
    }
}
