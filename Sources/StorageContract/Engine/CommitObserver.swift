/// An observer that is notified of commits.
///
/// The engine calls it from its own threads, also while commits wait, so both members must be
/// quick.
package protocol CommitObserver: Sendable {
    /// The databases that have their changes reported, with the environment of each.
    ///
    /// An engine asks at the beginning of each transaction. A database that was added before a job
    /// was handed to the engine is reported from the transaction of that job on.
    var watched: [DatabaseID: EnvironmentID] { get }

    /// A transaction that changed something in watched databases is durable.
    ///
    /// An engine that does not keep the changes reports the position alone
    /// (`CommittedChanges.incomplete`); the changes are in the rows. An engine in one process
    /// should report the changes, because listeners then get the record without a read.
    ///
    /// - Order: The reports of one database come in the order of its commits, each before the
    ///   replies to the jobs of its transaction. A change at or before a position that was reported
    ///   is in this report or an earlier one.
    func committed(_ changes: CommittedChanges)
}
