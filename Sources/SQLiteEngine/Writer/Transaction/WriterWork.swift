import StorageContract

/// Counts the work of the writer since the process began, in the unit of the overload rule.
///
/// The holder is charged for a request that took more than its size suggested.
final class WorkMeter {
    var done = 0
}

/// Work that may be left for housekeeping, as far as the writer knows.
final class HousekeepingWork {
    /// Whether deleted zones and shares may have left something to sweep.
    var mayBeSweeps = true
    /// Whether indexes may have to be filled or emptied.
    var mayBeIndexes = true
    /// Whether shared databases may have to be updated.
    var mayBeViews = true

    /// Assumes work of every kind, as after another process' writes or a rollback.
    func mayBeAny() {
        self.mayBeSweeps = true
        self.mayBeIndexes = true
        self.mayBeViews = true
    }
}
