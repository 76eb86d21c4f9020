import Synchronization

/// The quotas in force, which an operator changes while requests are executed.
///
/// A request reads them once. Data beyond a lower quota stays; only more of it is refused.
final class LiveQuotas: Sendable {
    private let quotas: Mutex<StorageQuotas>

    init(_ quotas: StorageQuotas) {
        self.quotas = Mutex(quotas)
    }

    var current: StorageQuotas {
        get { self.quotas.withLock { $0 } }
        set { self.quotas.withLock { $0 = newValue } }
    }
}
