/// Somebody who is told of commits.
///
/// An engine calls from its own threads, also while commits wait, so both must be quick.
package protocol CommitObserver: Sendable {
    /// The databases whose changes are reported, with the environment of each.
    ///
    /// An engine asks at the beginning of each transaction. A database that was added before a job
    /// was handed to the engine is reported from the transaction of that job on.
    var watched: [DatabaseID: EnvironmentID] { get }

    /// A transaction that changed something in watched databases is durable.
    ///
    /// An engine that does not know what changed, or keeps no account of it, reports the position
    /// alone (`CommittedChanges.incomplete`): the changes are in the rows. With the changes at hand
    /// listeners hear at once of the very record, so an engine in one process should report them.
    ///
    /// - Order: The reports of one database come in the order of its commits, each before the
    ///   replies to the jobs of its transaction. A change at or before a position that was reported
    ///   is in this report or an earlier one.
    func committed(_ changes: CommittedChanges)
}
