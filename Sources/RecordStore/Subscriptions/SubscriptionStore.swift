package import StorageContract

/// The store as the router of notifications sees it.
///
/// `Subscriptions` is the one that serves; tests have others.
package protocol SubscriptionStore: Sendable {
    /// Sets the observer of commits in databases that are watched.
    ///
    /// Called when a transaction that changed something there is durable, before any reply to its
    /// requests, in the order of the commits of each database, on a thread that commits wait for: it
    /// must be quick. To be set once, before the first `startWatching`.
    func report(to observer: @escaping @Sendable (CommittedChanges) -> Void)

    /// Watches the databases of a listener, and says how things stand.
    ///
    /// Replies on the thread of `report`: every transaction that the start does not show is reported
    /// after the reply. A failure watches nothing.
    func startWatching(
        _ listener: ListenerIdentity,
        reply: @escaping @Sendable (Result<ListeningStart, StoreError>) -> Void
    )

    /// Ends one `startWatching`: a database is watched until there were as many stops as starts.
    func stopWatching(_ listener: ListenerIdentity)

    /// Reads which zones of a database changed behind a position, when a position alone was reported
    /// (`CommittedChanges.incomplete`).
    ///
    /// Shows every commit that was reported before the call, and may show later ones. Blocks, so it
    /// belongs on any thread but an event loop; `nil` if it can't be found out.
    func tail(of database: DatabaseID, after position: Int64) -> ChangeTail?

    /// Lists the subscriptions that users have in a database, by user and ID, without news.
    ///
    /// To be asked about a few hundred users at a time. Otherwise as `tail`.
    func subscriptions(of owners: [String], in database: DatabaseID) -> [WatchedSubscription]?

    /// Notes the acknowledgements of a listener.
    ///
    /// Written within a second or two: only a crash may lose them. A position never goes back. At
    /// most 65,536 wait; acknowledgements beyond that are forgotten, so the news comes once more.
    func acknowledge(_ acknowledgements: [Acknowledgement], by listener: ListenerIdentity)

    /// Deletes a subscription that has fired and was to fire once, if it is still the one that was
    /// saved at that position.
    ///
    /// Those that are asked for meanwhile share a transaction. Reported as any deletion.
    func expire(_ subscription: SubscriptionKey)

    /// Finds out whether users may read records of one environment now, by the grants and roles of the
    /// public database; in other databases they may.
    ///
    /// The reply has one answer a question, in order, and none if it can't be found out. It comes on any
    /// thread, or before the call returns.
    func mayRead(_ questions: [ReadQuestion], reply: @escaping @Sendable ([Bool]?) -> Void)
}
