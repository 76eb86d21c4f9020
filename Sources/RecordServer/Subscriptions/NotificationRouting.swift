import Admission
import RecordModel
import RecordStore
import StorageContract

/// Maps connections to their subscriptions, and commits to notifications.
///
/// Used on the router's thread only: events in, posts for event loops out.
struct NotificationRouting {
    /// A connection that listens, and its event loop.
    struct Listener: Sendable {
        var number: UInt64
        /// Index of its event loop in the list of all.
        var loop: Int
        var identity: ListenerIdentity
    }

    /// One notification for all of its listeners on an event loop.
    struct Delivery: Sendable {
        var notification: OutgoingNotification
        /// Numbers of connections.
        var listeners: [UInt64]
        /// The connection that made the change; `nil` if none of these listeners did.
        var excluded: UInt64?
    }

    /// A message to an event loop.
    enum Post: Sendable {
        /// A listener gets every later change; hints at earlier ones follow.
        case began(UInt64)
        case failed(UInt64, StoreError)
        case delivery(Delivery)
    }

    /// Counts for operators.
    struct Counts: Hashable {
        /// Comparisons of values of records with those of conditions.
        var comparisons = 0
        /// Change hints, sent because comparing was too expensive.
        var news = 0
    }

    /// The run with the connections that listen.
    private let run: ServerRun
    /// Posts by event loop, in order.
    private var posts: [[Post]]
    private(set) var index = SubscriptionIndex()
    private var users: [AccountHolder: ListeningUser] = [:]
    private var listeners: [UInt64: Listener] = [:]
    /// Connections for which the store has not replied yet.
    private var starting: Set<UInt64> = []
    /// Databases that have listeners.
    private(set) var followed: [DatabaseID: FollowedDatabase] = [:]
    var shapes = RecordTypeShapes()
    var budget: RoutingBudget
    var counts = Counts()
    /// Changes of records so far.
    var lastChange: UInt64 = 0
    /// Users who are owed change hints, in round-robin order.
    var owing: [ListeningUser] = []
    /// Cost so far that is charged to no user, in comparisons.
    var uncharged = 0
    private var lastSubject: UInt64 = 0

    /// The cost of watching a subscription.
    private static let watchCost = 50

    init(loops: Int, run: ServerRun, limits: RoutingBudget.Limits = .defaults) {
        self.run = run
        self.posts = Array(repeating: [], count: loops)
        self.budget = RoutingBudget(limits)
    }

    /// Cost so far, in comparisons.
    var cost: Int { self.uncharged + self.budget.charged }

    var listenersCount: Int { self.listeners.count }

    /// Returns the posts by event loop, and clears them.
    mutating func takePosts() -> [[Post]] {
        defer { for loop in self.posts.indices { self.posts[loop].removeAll(keepingCapacity: true) } }
        return self.posts
    }

    /// Returns the counts since the last call.
    mutating func takeCounts() -> Counts {
        defer { self.counts = Counts() }
        return self.counts
    }

    /// Pays off debts with the time that has passed, and sends owed hints.
    ///
    /// - Parameter milliseconds: Of a monotonic clock.
    mutating func timePassed(nowMilliseconds milliseconds: Int64) {
        if self.budget.pay(nowMilliseconds: milliseconds) { self.tellOwed(nowMilliseconds: milliseconds) }
    }

    /// Whether owed hints wait for time to pass.
    var isOwing: Bool { !self.owing.isEmpty }

    // MARK: - Listeners

    /// The store is being asked to watch for a connection.
    mutating func asked(_ number: UInt64) {
        self.starting.insert(number)
    }

    /// The store watches for a connection, or could not be asked.
    ///
    /// The connection gets the changes of a database from `joined` on.
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

    /// A connection gets the changes of a database from this position on, unless it has ended.
    ///
    /// - Returns: Whether the work is complete; otherwise call it again.
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
            guard watched.hasChanges else { continue }
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

    /// A connection has ended that listened or was about to.
    ///
    /// - Returns: The listener for which the store need no longer watch.
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
            // Breaks the reference cycle.
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

    /// Every change of a database up to a position has been routed.
    mutating func advance(_ database: DatabaseID, to position: Int64) {
        self.followed[database]?.advance(to: position)
    }

    private func audience(of key: SubscriptionKey, in environment: EnvironmentID) -> Audience? {
        self.users[.user(environment: environment.rawValue, key.owner)]?.audiences[key.database]
    }

    /// Returns the existing subscription if it is the same one, otherwise replaces it by a new one.
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
    /// their user.
    ///
    /// A subscription that fires only once does so when it has a listener; otherwise the next
    /// listener gets a hint.
    mutating func post(
        _ notification: OutgoingNotification,
        of watch: Watch,
        excluding origin: ChangeOrigin?
    ) {
        let audience = watch.audience
        // Connection numbers of another run denote other connections here.
        let excluded = origin.flatMap { $0.run == self.run ? $0.connection : nil }
        if notification.fires, watch.subject.firesOnce {
            guard !watch.isSpent, audience.hasListener(besides: excluded) else { return }
            watch.isSpent = true
        }
        watch.notifiedPosition = max(watch.notifiedPosition, notification.position)
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
