import Foundation

/// The right to continue a chain; of one process at a time.
final class ChainLock: Sendable {
    private let descriptor: Int32

    /// - Throws: `unavailable`, `cannotCreate`.
    init(_ chain: BackupChain) throws(CommandFailure) {
        self.descriptor = open(chain.lockPath, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard self.descriptor >= 0 else {
            throw CommandFailure(
                .cannotCreate,
                "\(chain.lockPath) cannot be written. Check who owns \(chain.path)."
            )
        }
        guard flock(self.descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandFailure(
                .unavailable,
                "another process continues the backup in \(chain.path). Stop it first, or name another folder with --to."
            )
        }
    }

    deinit { close(self.descriptor) }
}
