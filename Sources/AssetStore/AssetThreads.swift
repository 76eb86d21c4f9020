import Foundation
import NIOPosix

/// Threads of the store's own: they alone wait for the disk, and hash.
///
/// Where they and a connection or the database want the same processor, these go first: small requests beside large files wait less, and
/// the files take no longer.
final class AssetThreads: Sendable {
    /// Of `setpriority`: a tenth of the time that others get.
    private static let niceness: Int32 = 10

    private let pool: NIOThreadPool

    init(count: Int) {
        self.pool = NIOThreadPool(numberOfThreads: count)
    }

    func start() { self.pool.start() }

    /// Returns when all that was submitted is done.
    func shutdown() async { try? await self.pool.shutdownGracefully() }

    /// Does something on a thread; after the end of all on the one that calls.
    func run(_ job: @escaping @Sendable () -> Void) {
        self.pool.submit { state in
            // Linux means the calling thread by 0. Threads have no beginning of their own: so each job says it, in 0.1 µs.
            if state == .active { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness) }
            job()
        }
    }
}
