import Foundation
import NIOPosix

/// The store's own threads.
///
/// Only they wait for the disk, and compute hashes.
///
/// If a connection or the database wants the same processor, these threads yield. Small requests
/// beside large files wait less, and the files take no longer.
final class AssetThreads: Sendable {
    /// For `setpriority`: a tenth of the processor time of normal threads.
    private static let niceness: Int32 = 10

    private let pool: NIOThreadPool

    init(count: Int) {
        self.pool = NIOThreadPool(numberOfThreads: count)
    }

    func start() { self.pool.start() }

    /// Returns when all submitted jobs are done.
    func shutdown() async { try? await self.pool.shutdownGracefully() }

    /// Runs a job on a thread of the pool or, after shutdown, on the calling thread.
    func run(_ job: @escaping @Sendable () -> Void) {
        self.pool.submit { state in
            // On Linux, 0 means the calling thread. The pool has no hook for a thread's start, so
            // each job makes the call, in 0.1 µs.
            if state == .active { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness) }
            job()
        }
    }
}
