import Synchronization

/// Whether there may be news that shared databases have not been told of.
///
/// True before anybody can see such a change, so that who reads his shared database can have it told first.
final class PendingViews: Sendable {
    private let flag = Atomic(true)

    var mayBeAny: Bool {
        get { self.flag.load(ordering: .sequentiallyConsistent) }
        set { self.flag.store(newValue, ordering: .sequentiallyConsistent) }
    }
}
