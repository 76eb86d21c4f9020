import RecordStore

/// A connection that is about to hear of a database.
struct JoiningListener {
    let number: UInt64
    let database: DatabaseID
    /// Where the database was when it began.
    let position: Int64
    /// Those of its user there, as they were saved when it began.
    let subscriptions: [WatchedSubscription]
    /// Those before it are watched.
    var next = 0

    init(number: UInt64, database: DatabaseID, position: Int64, subscriptions: [WatchedSubscription]) {
        self.number = number
        self.database = database
        self.position = position
        self.subscriptions = subscriptions
    }

    /// One for each database of a listener.
    static func all(of listener: NotificationRouting.Listener, _ start: ListeningStart) -> [JoiningListener] {
        let subscriptions = Dictionary(grouping: start.subscriptions, by: \.key.database)
        return listener.identity.databases.map {
            JoiningListener(
                number: listener.number,
                database: $0,
                position: start.positions[$0] ?? 0,
                subscriptions: subscriptions[$0] ?? []
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
