import Admission
import RecordStore
import StorageContract

/// A connection that is about to listen in a database.
struct JoiningListener {
    let number: UInt64
    let database: DatabaseID
    /// The database's position when the connection began.
    let position: Int64
    /// The user's subscriptions there, as saved when the connection began.
    let subscriptions: [WatchedSubscription]
    /// Subscriptions before this index are watched.
    var next = 0

    init(number: UInt64, database: DatabaseID, position: Int64, subscriptions: [WatchedSubscription]) {
        self.number = number
        self.database = database
        self.position = position
        self.subscriptions = subscriptions
    }

    /// One value for each database of a listener.
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
        // Admission guarantees that listeners have a name.
        self = .user(environment: signIn.environment.rawValue, signIn.userRecordName ?? "")
    }
}
