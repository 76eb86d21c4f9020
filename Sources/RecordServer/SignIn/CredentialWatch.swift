import NIOCore
import NIOPosix
import RecordStore
import Synchronization

/// Notices that tokens, keys and users were changed, by this process or by another, and that
/// credentials have expired.
///
/// The directory is asked four times a second for the version of its last change, which is one
/// entry of an index. Only when it is another are the changed users asked for; only connections of
/// theirs are looked at again, and only loops that have connections with an end are woken.
final class CredentialWatch: Sendable {
    static let interval = TimeAmount.milliseconds(250)

    /// Of its own: sign-ins may wait for the disk.
    let threads = NIOThreadPool(numberOfThreads: 1)
    private let directory: Directory
    private let seen = Atomic<Int64>(0)
    private let isLooking = Atomic<Bool>(false)
    private let expiring = Atomic<Int>(0)

    init(directory: Directory) {
        self.directory = directory
    }

    /// What has been passed on.
    var version: Int64 { self.seen.load(ordering: .acquiring) }

    /// Whether a connection has an end.
    var hasExpiring: Bool { self.expiring.load(ordering: .relaxed) > 0 }

    func count(expiring change: Int) {
        self.expiring.add(change, ordering: .relaxed)
    }

    /// Looks, unless it looks already; `changed` is called on the thread of the watch.
    ///
    /// A directory that cannot be read is asked again the next time.
    func look(changed: @escaping @Sendable (Set<UserNumber>) -> Void) {
        guard !self.isLooking.exchange(true, ordering: .acquiringAndReleasing) else { return }
        self.threads.submit { state in
            defer { self.isLooking.store(false, ordering: .releasing) }
            guard case .active = state,
                let changes = try? self.directory.credentialChanges(after: self.version),
                changes.version != self.version
            else { return }
            // Stored before it is told: connections that sign in from now on compare with it.
            self.seen.store(changes.version, ordering: .releasing)
            changed(changes.users)
        }
    }
}
