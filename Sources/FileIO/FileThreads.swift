import Foundation
import NIOPosix

/// Threads that read, write and hash files, so that no event loop and no task waits for a disk.
///
/// Jobs take turns, so each should be short: a few megabytes. Callers bound the number of queued
/// jobs.
package struct FileThreads: Sendable {
    package typealias Job = @Sendable () -> Void

    /// The priority when other threads of the machine want the same processor.
    package enum Priority: Sendable {
        /// All get the same time.
        case normal
        /// The threads of the pool get a tenth of the time of the others.
        ///
        /// A job must not resume a task: the task might start a thread, which would inherit the
        /// priority.
        case low
    }

    /// For `setpriority`: a tenth of the processor time of normal threads.
    private static let niceness: Int32 = 10

    private let submit: @Sendable (@escaping Job) -> Void
    /// `nil` if jobs are submitted elsewhere.
    private let pool: NIOThreadPool?

    /// Makes threads, which start with `start`.
    package init(count: Int, priority: Priority) {
        let pool = NIOThreadPool(numberOfThreads: count)
        self.pool = pool
        self.submit = { job in
            pool.submit { state in
                if state == .active, priority == .low { Self.lowerPriority() }
                job()
            }
        }
    }

    /// Passes jobs to a function, which decides when they run.
    package init(submit: @escaping @Sendable (@escaping Job) -> Void) {
        self.submit = submit
        self.pool = nil
    }

    package func start() { self.pool?.start() }

    /// Returns when all submitted jobs are done.
    package func shutdown() async { try? await self.pool?.shutdownGracefully() }

    /// Runs a job on one of the threads or, after shutdown, on the calling thread.
    package func run(_ job: @escaping Job) { self.submit(job) }

    /// Runs a job on one of the threads, and waits for its result.
    package func result<Value: Sendable, Failure: Error>(
        of job: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            self.submit {
                do throws(Failure) {
                    continuation.resume(returning: .success(try job()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// The pool has no hook for a thread's start, so each job makes the call, in 0.1 µs.
    private static func lowerPriority() {
        // On Linux, 0 means the calling thread.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
    }
}
