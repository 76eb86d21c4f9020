import RecordStore

/// Counts the work of the writer since the process began, in the unit of the overload rule.
///
/// The holder pays for a request that took more than its size said.
final class WorkMeter {
    var done = 0
}

/// Work that may be left for housekeeping, as far as the writer knows.
final class HousekeepingWork {
    /// Whether deleted zones may have left something to sweep.
    var mayBeSweeps = true
    /// Whether indexes may have to be filled or emptied.
    var mayBeIndexes = true
    /// Whether shared databases may have to be told of something.
    var mayBeViews: Bool { self.pendingViews.mayBeAny }
    /// Whether the transaction has told them of everything.
    private var viewsAreTold = false
    private let pendingViews: PendingViews

    init(_ pendingViews: PendingViews) {
        self.pendingViews = pendingViews
    }

    /// Takes every kind of work to be there, as somebody else may have left it.
    func mayBeAny() {
        self.mayBeSweeps = true
        self.mayBeIndexes = true
        self.wantViews()
    }

    /// Notes that shared databases have to be told of something, before anybody can see it.
    func wantViews() {
        self.pendingViews.mayBeAny = true
        self.viewsAreTold = false
    }

    /// Notes that nothing is left to tell them, when this is committed.
    func viewsWereTold() { self.viewsAreTold = true }

    func committed() {
        if self.viewsAreTold { self.pendingViews.mayBeAny = false }
        self.viewsAreTold = false
    }
}
