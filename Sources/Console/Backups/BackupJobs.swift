import NIOPosix
import ServiceLifecycle
import Synchronization

/// Makes backups for the console, one at a time, beside its pages.
///
/// A page that asks for one does not wait for it. The console's end stops a backup between two
/// steps, and removes what was copied.
final class BackupJobs: Service {
    enum State: Hashable, Sendable {
        case idle
        case running(path: String, done: Int64, total: Int64)
        case ended(path: String, BackupEnd)
    }

    private struct Job: Sendable {
        let path: String
        let desk: BackupDesk
    }

    private let jobs: AsyncStream<Job>
    private let continuation: AsyncStream<Job>.Continuation
    private let current = Mutex(State.idle)
    private let isStopping = Mutex(false)

    init() { (self.jobs, self.continuation) = AsyncStream.makeStream() }

    var state: State { self.current.withLock { $0 } }

    /// Begins a backup.
    ///
    /// - Returns: Whether it has begun; another may be running.
    func begin(_ path: String, _ desk: BackupDesk) -> Bool {
        let isFree = self.current.withLock { state in
            if case .running = state { return false }
            state = .running(path: path, done: 0, total: 0)
            return true
        }
        if isFree { self.continuation.yield(Job(path: path, desk: desk)) }
        return isFree
    }

    func run() async throws {
        await withGracefulShutdownHandler {
            for await job in self.jobs { await self.make(job) }
        } onGracefulShutdown: {
            self.isStopping.withLock { $0 = true }
            self.continuation.finish()
        }
    }

    private func make(_ job: Job) async {
        let end = try? await NIOThreadPool.singleton.runIfActive {
            job.desk.make(job.path, { self.isStopping.withLock { $0 } }) { done, total in
                self.current.withLock { $0 = .running(path: job.path, done: done, total: total) }
            }
        }
        self.current.withLock {
            $0 = .ended(path: job.path, end ?? .failed("The console ends, and made no backup."))
        }
    }
}
