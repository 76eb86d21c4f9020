import RecordModel
import RecordStore

/// Knows which connections listen for what, and which notifications a commit makes for them.
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
        /// The connection that made the change; `nil` if none of these listeners did.
        var excluded: UInt64?
    }

    /// What an event loop is told.
    enum Post: Sendable {
        /// A listener hears everything from here on; what there is news of follows.
        case began(UInt64)
        case failed(UInt64, StoreError)
        case delivery(Delivery)
    }

    /// Whether somebody may read a record of a public database.
    typealias MayRead = (_ recordType: String, _ createdBy: String, _ requester: Requester) -> Bool

    /// What was done, for operators.
    struct Counts: Hashable {
        /// Comparisons of values of records with those of conditions.
        var comparisons = 0
        /// Notifications that say that there may be news, because it could not be afforded to find
        /// out.
        var news = 0
    }

    /// Whose connections listen.
    private let run: ServerRun
    /// By event loop, in order.
    private var posts: [[Post]]
    private(set) var index = SubscriptionIndex()
    private var users: [AccountHolder: ListeningUser] = [:]
    private var listeners: [UInt64: Listener] = [:]
    /// Connections for which the store has not said yet how things stand.
    private var starting: Set<UInt64> = []
    /// Databases that somebody listens in.
    private(set) var followed: [DatabaseID: FollowedDatabase] = [:]
    var shapes = RecordTypeShapes()
    var budget: RoutingBudget
    var counts = Counts()
    /// Changes of records so far.
    var lastChange: UInt64 = 0
    /// Those who are owed news, in the order of their turns.
    var owing: [ListeningUser] = []
    /// What has been done so far and no user is charged with, in comparisons.
    var uncharged = 0
    private var lastSubject: UInt64 = 0

    /// What it costs to watch a subscription.
    private static let watchCost = 50

    init(loops: Int, run: ServerRun, limits: RoutingBudget.Limits = .defaults) {
        self.run = run
        self.posts = Array(repeating: [], count: loops)
        self.budget = RoutingBudget(limits)
    }

    /// What has been done so far, in comparisons.
    var cost: Int { self.uncharged + self.budget.charged }

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

    /// The store watches for a connection, or could not be asked.
    ///
    /// The connection hears of a database from `joined` on.
    ///
    /// - Returns: Whether the connection has ended meanwhile, so that the store need not watch for
    ///   it.
    mutating func started(_ listener: Listener, _ result: Result<ListeningStart, StoreError>) -> Bool {
        let hasEnded = self.starting.remove(listener.number) == nil
        switch result {
        case .failure(let error):
            if !hasEnded { self.posts[listener.loop].append(.failed(listener.number, error)) }
            return false
        case .success:
            guard !hasEnded else { return true }
        }
        self.listeners[listener.number] = listener
        self.user(listener.identity.signIn).connections += 1
        self.posts[listener.loop].append(.began(listener.number))
        return false
    }

    /// A connection hears of a database from this place in the order of its commits on, if it has
    /// not ended.
    ///
    /// - Returns: Whether all is done; otherwise it is to be called again.
    mutating func joined(_ joining: inout JoiningListener, costMax: Int = .max) -> Bool {
        guard let listener = self.listeners[joining.number] else { return true }
        let user = self.user(listener.identity.signIn)
        let audience = self.audience(of: user, in: joining.database)
        if joining.next == 0 {
            audience.join(joining.number, onLoop: listener.loop)
            self.followed[joining.database, default: FollowedDatabase()].join(audience, at: joining.position)
        }
        let end = joining.next + min(joining.subscriptions.count - joining.next, costMax / Self.watchCost + 1)
        for watched in joining.subscriptions[joining.next..<end] {
            let watch = self.watch(watched, of: audience)
            guard watched.hasNews else { continue }
            let news = watch.subject.news(upTo: watched.position, isCoalesced: false)
            if watch.subject.firesOnce { watch.isSpent = true }
            self.posts[listener.loop].append(
                .delivery(Delivery(notification: news, listeners: [joining.number], excluded: nil))
            )
        }
        self.uncharged += (end - joining.next + 1) * Self.watchCost
        joining.next = end
        return end == joining.subscriptions.count
    }

    /// A connection has ended that listens or is about to.
    ///
    /// - Returns: For whom the store need not watch any more.
    mutating func stopped(_ number: UInt64) -> ListenerIdentity? {
        guard let listener = self.listeners.removeValue(forKey: number) else {
            self.starting.remove(number)
            return nil
        }
        let user = self.user(listener.identity.signIn)
        for (database, audience) in user.audiences {
            audience.leave(number, onLoop: listener.loop)
            guard audience.listenersCount == 0 else { continue }
            for watch in audience.watches.values { self.index.remove(watch) }
            // They name each other.
            audience.watches = [:]
            user.audiences[database] = nil
            self.followed[database]?.leave(audience)
            if self.followed[database]?.isEmpty == true { self.followed[database] = nil }
        }
        user.connections -= 1
        if user.connections == 0 {
            user.owedGroups = []
            self.users[AccountHolder(listener.identity.signIn)] = nil
        }
        return listener.identity
    }

    private mutating func user(_ signIn: SignIn) -> ListeningUser {
        let holder = AccountHolder(signIn)
        if let user = self.users[holder] { return user }
        let user = ListeningUser(signIn: signIn, account: self.budget.account(of: holder))
        self.users[holder] = user
        return user
    }

    private func audience(of user: ListeningUser, in database: DatabaseID) -> Audience {
        if let audience = user.audiences[database] { return audience }
        let audience = Audience(of: user, in: database, loops: self.posts.count)
        user.audiences[database] = audience
        return audience
    }

    // MARK: - Subscriptions

    mutating func saved(_ watched: WatchedSubscription, in environment: EnvironmentID) {
        guard let audience = self.audience(of: watched.key, in: environment) else { return }
        self.watch(watched, of: audience)
    }

    mutating func deleted(_ key: SubscriptionKey, in environment: EnvironmentID) {
        guard let audience = self.audience(of: key, in: environment) else { return }
        self.forget(key.id, of: audience)
    }

    mutating func forget(_ id: String, of audience: Audience) {
        guard let watch = audience.watches.removeValue(forKey: id) else { return }
        self.index.remove(watch)
    }

    /// Everything that happened in a database up to a position has been taken care of.
    mutating func advance(_ database: DatabaseID, to position: Int64) {
        self.followed[database]?.advance(to: position)
    }

    private func audience(of key: SubscriptionKey, in environment: EnvironmentID) -> Audience? {
        self.users[.user(environment, key.owner)]?.audiences[key.database]
    }

    /// The one that is there when it is the same, otherwise a new one in its place.
    @discardableResult
    mutating func watch(_ watched: WatchedSubscription, of audience: Audience) -> Watch {
        let id = watched.key.id
        if let watch = audience.watches[id] {
            if watch.subject.key == watched.key { return watch }
            self.index.remove(watch)
        }
        self.lastSubject += 1
        let subject = ListenedSubscription(
            number: self.lastSubject,
            key: watched.key,
            subscription: watched.subscription,
            scope: audience.scope
        )
        let watch = Watch(subject, for: audience)
        audience.watches[id] = watch
        self.index.insert(watch)
        return watch
    }

    // MARK: - Posts

    /// Hands a notification to every listener but the connection that made the change, and charges
    /// their user with it.
    ///
    /// One that is to fire once does so when there is anybody to hear it; otherwise it is news when
    /// somebody comes.
    mutating func post(
        _ notification: OutgoingNotification,
        of watch: Watch,
        excluding origin: ChangeOrigin?
    ) {
        let audience = watch.audience
        // The connections of another run have numbers that mean others here.
        let excluded = origin.flatMap { $0.run == self.run ? $0.connection : nil }
        if notification.fires, watch.subject.firesOnce {
            guard !watch.isSpent, audience.hasListener(besides: excluded) else { return }
            watch.isSpent = true
        }
        watch.toldPosition = max(watch.toldPosition, notification.position)
        self.budget.charge(
            RoutingBudget.notificationCost + audience.listenersCount,
            to: audience.user.account
        )
        for (loop, listeners) in audience.listeners.enumerated() where !listeners.isEmpty {
            self.posts[loop].append(
                .delivery(Delivery(notification: notification, listeners: listeners, excluded: excluded))
            )
        }
    }
}
