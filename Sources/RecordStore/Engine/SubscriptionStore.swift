package import RecordModel

/// Subscriptions of users, and what commits tell those who listen.
///
/// `StorageEngine.subscriptions` is one. They are saved and deleted by `StorageEngine.write`, as all that changes.
package protocol SubscriptionStore: Sendable {
    /// Names who is told of commits in databases that are watched.
    ///
    /// Called when a transaction that changed something there is on disk, before any reply to its requests; once a transaction, in the
    /// order of the commits, on a thread that commits wait for: it must be quick. To be set once, before the first `startWatching`.
    func report(to observer: @escaping @Sendable (CommittedChanges) -> Void)

    /// Watches both databases of a listener from here on, and says how things stand.
    ///
    /// Replies between two transactions, on the thread of `report`: every transaction after the reply is reported, none before it is. So who
    /// registers the listener within the reply misses nothing and hears nothing twice. A failure watches nothing.
    func startWatching(
        _ listener: ListenerIdentity,
        reply: @escaping @Sendable (Result<ListeningStart, StoreError>) -> Void
    )

    /// Ends one `startWatching`: a database is watched until there were as many stops as starts.
    func stopWatching(_ listener: ListenerIdentity)

    /// Notes what a listener is through with.
    ///
    /// Written with a commit, at most once a second, or within a second when nobody commits: a crash may lose them, nothing else does. A
    /// position never goes back. At most 65,536 wait; what is acknowledged beyond that is forgotten, so that it is told once more.
    func acknowledge(_ acknowledgements: [Acknowledgement], by listener: ListenerIdentity)

    /// Deletes a subscription that has fired and was to fire once, if it is still the one that was saved at that position.
    ///
    /// Those that are asked for meanwhile share a transaction. Reported as any deletion.
    func expire(_ subscription: SubscriptionKey)

    /// Whether a user may read a record of a type now, by the grants and roles of the public database; in others: yes.
    ///
    /// Blocks: any thread but an event loop. No when it can't be found out.
    func mayRead(recordType: String, createdBy creator: String, by requester: Requester) -> Bool
}

/// The outcome of one item of a fetch of subscriptions.
package enum SubscriptionOutcome: Hashable, Sendable {
    case subscription(Subscription)
    case failed(StoreError)
}

/// Who listens: an installation of a program, for a user.
package struct ListenerIdentity: Hashable, Sendable {
    /// 16 bytes.
    package var installation: [UInt8]
    package var signIn: SignIn

    package init(installation: [UInt8], signIn: SignIn) {
        self.installation = installation
        self.signIn = signIn
    }

    /// What is watched for the listener.
    package var databases: [DatabaseID] {
        [self.signIn.publicDatabase]
            + [self.signIn.privateDatabase, self.signIn.sharedDatabase].compactMap { $0 }
    }
}

/// How things stand when a listener begins.
package struct ListeningStart: Hashable, Sendable {
    /// Those of all databases.
    package var subscriptions: [WatchedSubscription]

    package init(subscriptions: [WatchedSubscription]) {
        self.subscriptions = subscriptions
    }
}

/// A subscription with what a listener has to know of it.
package struct WatchedSubscription: Hashable, Sendable {
    package var key: SubscriptionKey
    package var subscription: Subscription
    /// Whether anything happened, where the subscription looks, that the installation has not acknowledged.
    package var hasNews: Bool
    /// The position of the database: what is to be acknowledged when the installation knows of the news.
    package var position: Int64

    package init(key: SubscriptionKey, subscription: Subscription, hasNews: Bool, position: Int64) {
        self.key = key
        self.subscription = subscription
        self.hasNews = hasNews
        self.position = position
    }
}

/// Names one save of a subscription.
package struct SubscriptionKey: Hashable, Sendable {
    package var database: DatabaseID
    /// User record name.
    package var owner: String
    package var id: String
    /// Where it was saved in the order of the database: another one whenever it is saved again.
    package var position: Int64

    package init(database: DatabaseID, owner: String, id: String, position: Int64) {
        self.database = database
        self.owner = owner
        self.id = id
        self.position = position
    }
}

/// What happened up to a position of the database is taken care of, as far as the subscription goes.
package struct Acknowledgement: Hashable, Sendable {
    package var subscription: SubscriptionKey
    package var position: Int64

    package init(subscription: SubscriptionKey, position: Int64) {
        self.subscription = subscription
        self.position = position
    }
}
