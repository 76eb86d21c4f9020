import NIOCore
import NIOPosix
import RecordStore
import StorageContract
import Synchronization

/// Detects changes of tokens, keys and users, by this process or another, and expired credentials.
///
/// Four times a second, it reads the version of the directory's last change, one index entry. Only
/// after a change does it read the changed users; it rechecks only their connections, and wakes
/// only loops with expiring credentials.
final class CredentialWatch: Sendable {
    static let interval = TimeAmount.milliseconds(250)

    /// Threads of its own: sign-ins may wait for the disk.
    let threads = NIOThreadPool(numberOfThreads: 1)
    private let directory: Directory
    private let seen = Atomic<Int64>(0)
    private let isLooking = Atomic<Bool>(false)
    private let expiring = Atomic<Int>(0)

    init(directory: Directory) {
        self.directory = directory
    }

    /// The last version that was passed on.
    var version: Int64 { self.seen.load(ordering: .acquiring) }

    /// Whether any connection's credential expires.
    var hasExpiring: Bool { self.expiring.load(ordering: .relaxed) > 0 }

    func count(expiring change: Int) {
        self.expiring.add(change, ordering: .relaxed)
    }

    /// Checks for changes, unless a check is running; calls `changed` on the thread of the watch.
    ///
    /// A directory that cannot be read is tried again at the next check.
    func look(changed: @escaping @Sendable (Set<UserNumber>) -> Void) {
        guard !self.isLooking.exchange(true, ordering: .acquiringAndReleasing) else { return }
        self.threads.submit { state in
            defer { self.isLooking.store(false, ordering: .releasing) }
            guard case .active = state,
                let changes = try? self.directory.credentialChanges(after: self.version),
                changes.version != self.version
            else { return }
            // Stored before the callback: connections that sign in from now on compare with it.
            self.seen.store(changes.version, ordering: .releasing)
            changed(changes.users)
        }
    }
}
