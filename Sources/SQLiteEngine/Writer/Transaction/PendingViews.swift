import Synchronization

/// Whether tables of the outbox of shared databases may have rows.
///
/// It is true before anybody can see such a row, so that a user who reads their shared database can
/// have the rows applied first. It saves every other read the look.
final class PendingViews: Sendable {
    private let flag = Atomic(true)

    var mayBeAny: Bool {
        get { self.flag.load(ordering: .sequentiallyConsistent) }
        set { self.flag.store(newValue, ordering: .sequentiallyConsistent) }
    }
}
