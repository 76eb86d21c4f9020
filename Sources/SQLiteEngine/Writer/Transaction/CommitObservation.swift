import StorageContract
import Synchronization

/// The observer of commits, if there is one.
final class CommitObservation: Sendable {
    private let observer = Mutex<(any CommitObserver)?>(nil)

    /// The environment of each database that has its changes reported.
    var watched: [DatabaseID: EnvironmentID] { self.observer.withLock { $0 }?.watched ?? [:] }

    func begin(with observer: any CommitObserver) { self.observer.withLock { $0 = observer } }

    func committed(_ changes: CommittedChanges) { self.observer.withLock { $0 }?.committed(changes) }
}
