import RecordModel
import RecordStore

/// Who listens for what, and which notifications a commit makes for whom.
///
/// Used on the router's thread only: events in, posts for event loops out.
struct NotificationRouting {
    /// A connection that listens, and where it lives.
    struct Listener: Sendable {
        var number: UInt64
        /// The place of its event loop in the list of all.
        var loop: Int
        var identity: ListenerIdentity
    }

    /// One notification for all who get it on an event loop.
    struct Delivery: Sendable {
        var notification: OutgoingNotification
        /// Numbers of connections.
        var listeners: [UInt64]
        /// The connection that made the change; 0: nobody's.
        var excluded: UInt64
    }

    /// What an event loop is told.
    enum Post: Sendable {
        /// A listener hears everything from here on, beginning with what there is news of.
        case began(UInt64, news: [OutgoingNotification])
        case failed(UInt64, StoreError)
        case delivery(Delivery)
    }

    /// Whether somebody may read a record of a public database.
    typealias MayRead = (_ recordType: String, _ createdBy: String, _ requester: Requester) -> Bool

    /// What was done, for operators.
    struct Counts: Hashable {
        /// Comparisons of values of records with those of conditions.
        var comparisons = 0
        /// Notifications that say that there may be news, because it could not be afforded to find out.
        var news = 0
    }

    /// By event loop, in order.
    private var posts: [[Post]]
    private(set) var index = SubscriptionIndex()
    private var audiences: [AccountHolder: Audience] = [:]
    private var listeners: [UInt64: Listener] = [:]
    /// Connections for which the store has not said yet how things stand.
    private var starting: Set<UInt64> = []
    var shapes = RecordTypeShapes()
    var budget: RoutingBudget
    var counts = Counts()
    /// Changes of records so far.
    var lastChange: UInt64 = 0
    /// Those who are owed news, in the order of their turns.
    var owing: [Audience] = []
    private var lastSubject: UInt64 = 0

    init(loops: Int, limits: RoutingBudget.Limits = .defaults) {
        self.posts = Array(repeating: [], count: loops)
        self.budget = RoutingBudget(limits)
    }

    var listenersCount: Int { self.listeners.count }

    /// By event loop; forgets them.
    mutating func takePosts() -> [[Post]] {
        defer { for loop in self.posts.indices { self.posts[loop].removeAll(keepingCapacity: true) } }
        return self.posts
    }

    /// What was done since it was last asked.
    mutating func takeCounts() -> Counts {
        defer { self.counts = Counts() }
        return self.counts
    }

    /// Time pays for what was spent, and lets those hear of news who are owed some.
    ///
    /// - Parameter milliseconds: Of a clock that never goes back.
    mutating func timePassed(nowMilliseconds milliseconds: Int64) {
        if self.budget.pay(nowMilliseconds: milliseconds) { self.tellOwed(nowMilliseconds: milliseconds) }
    }

    /// Whether somebody has to be told something when time has passed.
    var isOwing: Bool { !self.owing.isEmpty }

    // MARK: - Listeners

    /// The store is being asked to watch for a connection.
    mutating func asked(_ number: UInt64) {
        self.starting.insert(number)
    }

    /// The store watches for a connection from this place in the order of commits on, or could not be asked.
    ///
    /// - Returns: Whether the connection has ended meanwhile, so that the store need not watch for it.
    mutating func started(_ listener: Listener, _ result: Result<ListeningStart, StoreError>) -> Bool {
        let hasEnded = self.starting.remove(listener.number) == nil
        let start: ListeningStart
        switch result {
        case .failure(let error):
            if !hasEnded { self.posts[listener.loop].append(.failed(listener.number, error)) }
            return false
        case .success(let success):
            start = success
        }
        guard !hasEnded else { return true }
        let audience = self.audience(of: listener.identity.signIn)
        audience.join(listener.number, onLoop: listener.loop)
        self.listeners[listener.number] = listener
        var news: [OutgoingNotification] = []
        for watched in start.subscriptions {
            let watch = self.watch(watched, in: audience)
            guard watched.hasNews else { continue }
            news.append(watch.subject.news(upTo: watched.position, isCoalesced: false))
            if watch.subject.firesOnce { watch.isSpent = true }
        }
        self.posts[listener.loop].append(.began(listener.number, news: news))
        return false
    }

    /// A connection has ended that listens or is about to.
    ///
    /// - Returns: For whom the store need not watch any more.
    mutating func stopped(_ number: UInt64) -> ListenerIdentity? {
        guard let listener = self.listeners.removeValue(forKey: number) else {
            self.starting.remove(number)
            return nil
        }
        let audience = self.audience(of: listener.identity.signIn)
        audience.leave(number, onLoop: listener.loop)
        if audience.listenersCount == 0 {
            for watch in audience.watches.values { self.index.remove(watch) }
            // The audience and its watches name each other.
            audience.watches = [:]
            audience.owedGroups = []
            self.audiences[AccountHolder(listener.identity.signIn)] = nil
        }
        return listener.identity
    }

    private mutating func audience(of signIn: SignIn) -> Audience {
        let holder = AccountHolder(signIn)
        if let audience = self.audiences[holder] { return audience }
        let audience = Audience(
            signIn: signIn,
            account: self.budget.account(of: holder),
            loops: self.posts.count
        )
        self.audiences[holder] = audience
        return audience
    }

    // MARK: - Subscriptions

    mutating func saved(_ watched: WatchedSubscription, in environment: EnvironmentID) {
        guard let audience = self.audiences[.user(environment, watched.key.owner)] else { return }
        _ = self.watch(watched, in: audience)
    }

    mutating func deleted(_ key: SubscriptionKey, in environment: EnvironmentID) {
        guard let audience = self.audiences[.user(environment, key.owner)],
            let watch = audience.watches.removeValue(forKey: Audience.SubscriptionName(key))
        else { return }
        self.index.remove(watch)
    }

    /// The one that is there when it is the same, otherwise a new one in its place.
    private mutating func watch(_ watched: WatchedSubscription, in audience: Audience) -> Watch {
        let name = Audience.SubscriptionName(watched.key)
        if let watch = audience.watches[name] {
            if watch.subject.key == watched.key { return watch }
            self.index.remove(watch)
        }
        self.lastSubject += 1
        let subject = ListenedSubscription(
            number: self.lastSubject,
            key: watched.key,
            subscription: watched.subscription,
            scope: audience.scope(of: watched.key.database)
        )
        let watch = Watch(subject, for: audience)
        audience.watches[name] = watch
        self.index.insert(watch)
        return watch
    }

    // MARK: - Posts

    /// Hands a notification to every listener but the connection that made the change, and charges their user with it.
    ///
    /// One that is to fire once does so when there is anybody to hear it; otherwise it is news when somebody comes.
    mutating func post(_ notification: OutgoingNotification, of watch: Watch, excluding origin: UInt64) {
        let audience = watch.audience
        if notification.fires, watch.subject.firesOnce {
            guard !watch.isSpent, audience.hasListener(besides: origin) else { return }
            watch.isSpent = true
        }
        watch.toldPosition = max(watch.toldPosition, notification.position)
        self.budget.charge(RoutingBudget.notificationCost + audience.listenersCount, to: audience.account)
        for (loop, listeners) in audience.listeners.enumerated() where !listeners.isEmpty {
            self.posts[loop].append(
                .delivery(Delivery(notification: notification, listeners: listeners, excluded: origin))
            )
        }
    }
}

extension AccountHolder {
    init(_ signIn: SignIn) {
        // Nobody listens without a name: admission has seen to it.
        self = .user(signIn.environment, signIn.userRecordName ?? "")
    }
}
