import StorageContract
import Synchronization

/// The databases that are watched, and the observer of commits in them.
final class WatchedDatabases: CommitObserver {
    private struct Database {
        let environment: EnvironmentID
        var listeners: Int
    }

    private struct State {
        var observer: (@Sendable (CommittedChanges) -> Void)?
        var databases: [DatabaseID: Database] = [:]
        /// A copy for engines, made again when `databases` changes.
        var environments: [DatabaseID: EnvironmentID] = [:]
    }

    private let state = Mutex(State())

    var watched: [DatabaseID: EnvironmentID] { self.state.withLock { $0.environments } }

    func setObserver(_ observer: @escaping @Sendable (CommittedChanges) -> Void) {
        self.state.withLock { $0.observer = observer }
    }

    func committed(_ changes: CommittedChanges) {
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
}
