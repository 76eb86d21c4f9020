import RecordModel
import RecordStore
import StorageContract

/// A user of an environment who listens, on any connections.
///
/// Used on the router's thread only.
final class ListeningUser {
    let signIn: SignIn
    /// The recent cost of the user's subscriptions.
    let account: RoutingBudget.Account
    /// Groups that are owed change hints, in round-robin order.
    var owedGroups: [WatchGroup] = []
    var connections = 0
    /// Audiences that have a listening connection.
    var audiences: [DatabaseID: Audience] = [:]

    init(signIn: SignIn, account: RoutingBudget.Account) {
        self.signIn = signIn
        self.account = account
    }
}

/// The connections with which one user listens in one database, and all of the user's subscriptions
/// there.
///
/// Used on the router's thread only.
final class Audience {
    let user: ListeningUser
    let database: DatabaseID
    /// Numbers of connections, by event loop.
    private(set) var listeners: [[UInt64]]
    private(set) var listenersCount = 0
    /// By ID.
    var watches: [String: Watch] = [:]

    init(of user: ListeningUser, in database: DatabaseID, loops: Int) {
        self.user = user
        self.database = database
        self.listeners = Array(repeating: [], count: loops)
    }

    func join(_ number: UInt64, onLoop loop: Int) {
        self.listeners[loop].append(number)
        self.listenersCount += 1
    }

    func leave(_ number: UInt64, onLoop loop: Int) {
        guard let index = self.listeners[loop].firstIndex(of: number) else { return }
        self.listeners[loop].remove(at: index)
        self.listenersCount -= 1
    }

    /// Whether there is a listener other than one connection.
    func hasListener(besides excluded: UInt64?) -> Bool {
        self.listenersCount > 1 || self.listeners.contains { $0.contains { $0 != excluded } }
    }

    var scope: DatabaseScope {
        switch self.database {
        case self.user.signIn.publicDatabase: .public
        case self.user.signIn.sharedDatabase: .shared
        default: .private
        }
    }
}
