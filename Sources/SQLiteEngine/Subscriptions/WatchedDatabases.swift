import RecordStore
import Synchronization

/// Which databases are watched, and who is told what commits changed in them.
final class WatchedDatabases: Sendable {
    private struct Database {
        let environment: EnvironmentID
        var listeners: Int
    }

    private struct State {
        var observer: (@Sendable (CommittedChanges) -> Void)?
        var databases: [DatabaseID: Database] = [:]
        /// What the writer reads, made again when `databases` changes.
        var environments: [DatabaseID: EnvironmentID] = [:]
        var expired: Set<SubscriptionKey> = []
        var isExpiring = false
    }

    private let state = Mutex(State())
    let cursors = ListenerCursors()
    let pendingViews = PendingViews()

    /// The environment of each database that is watched.
    var watched: [DatabaseID: EnvironmentID] { self.state.withLock { $0.environments } }

    func setObserver(_ observer: @escaping @Sendable (CommittedChanges) -> Void) {
        self.state.withLock { $0.observer = observer }
    }

    func report(_ changes: CommittedChanges) {
        let observer = self.state.withLock { $0.observer }
        observer?(changes)
    }

    func add(_ listener: ListenerIdentity) {
        self.state.withLock { state in
            for id in listener.databases {
                let environment = listener.signIn.environment
                state.databases[id, default: Database(environment: environment, listeners: 0)].listeners += 1
                state.environments[id] = environment
            }
        }
    }

    func remove(_ listener: ListenerIdentity) {
        self.state.withLock { state in
            for id in listener.databases {
                guard var database = state.databases[id] else { continue }
                database.listeners -= 1
                state.databases[id] = database.listeners > 0 ? database : nil
                if database.listeners <= 0 { state.environments[id] = nil }
            }
        }
    }

    // MARK: Subscriptions that have fired

    /// Adds one that is to be deleted; true: nobody is about to do it yet.
    func expire(_ subscription: SubscriptionKey) -> Bool {
        self.state.withLock { state in
            state.expired.insert(subscription)
            defer { state.isExpiring = true }
            return !state.isExpiring
        }
    }

    /// Takes all that are to be deleted; who comes later needs somebody else to do it.
    func takeExpired() -> Set<SubscriptionKey> {
        self.state.withLock { state in
            state.isExpiring = false
            defer { state.expired = [] }
            return state.expired
        }
    }
}
