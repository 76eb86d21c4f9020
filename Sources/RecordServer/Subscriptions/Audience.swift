import RecordModel
import RecordStore

/// The connections with which one user listens in one environment, and the subscriptions that they hear of: all that he has there.
///
/// Used on the router's thread only.
final class Audience {
    /// Names a subscription whenever it was saved.
    struct SubscriptionName: Hashable {
        var database: DatabaseID
        var id: String

        init(_ key: SubscriptionKey) {
            self.database = key.database
            self.id = key.id
        }
    }

    let signIn: SignIn
    /// What its subscriptions have cost lately.
    let account: RoutingBudget.Account
    /// Groups that are owed news, in the order of their turns.
    var owedGroups: [WatchGroup] = []
    /// Numbers of connections, by event loop.
    private(set) var listeners: [[UInt64]]
    private(set) var listenersCount = 0
    var watches: [SubscriptionName: Watch] = [:]

    init(signIn: SignIn, account: RoutingBudget.Account, loops: Int) {
        self.signIn = signIn
        self.account = account
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
    func hasListener(besides excluded: UInt64) -> Bool {
        self.listenersCount > 1 || self.listeners.contains { $0.contains { $0 != excluded } }
    }

    func scope(of database: DatabaseID) -> DatabaseScope {
        switch database {
        case self.signIn.publicDatabase: .public
        case self.signIn.sharedDatabase: .shared
        default: .private
        }
    }
}
