import RecordModel
import RecordStore

/// A user of an environment who listens, with whichever connections.
///
/// Used on the router's thread only.
final class ListeningUser {
    let signIn: SignIn
    /// What the user's subscriptions have cost lately.
    let account: RoutingBudget.Account
    /// Groups that are owed news, in the order of their turns.
    var owedGroups: [WatchGroup] = []
    var connections = 0
    /// Those of which a connection hears already.
    var audiences: [DatabaseID: Audience] = [:]

    init(signIn: SignIn, account: RoutingBudget.Account) {
        self.signIn = signIn
        self.account = account
    }
}

/// The connections with which one user listens in one database, and the subscriptions that they
/// hear of: all that the user has there.
///
/// Used on the router's thread only.
final class Audience {
    let user: ListeningUser
    let database: DatabaseID
    /// Numbers of connections, by event loop.
    private(set) var listeners: [[UInt64]]
    private(set) var listenersCount = 0
    /// By ID, whenever they were saved.
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
        guard let place = self.listeners[loop].firstIndex(of: number) else { return }
        self.listeners[loop].remove(at: place)
        self.listenersCount -= 1
    }

    /// Whether anybody listens but one connection.
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
