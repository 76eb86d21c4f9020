import Foundation
import NIOPosix

/// Where files are read, written and hashed: threads of their own, so that neither a connection nor a task ever waits for a disk.
///
/// Jobs should be short, a few megabytes each, so that they take turns. Unbounded: who submits bounds himself.
package struct FileThreads: Sendable {
    /// Those of this process.
    package static let shared = FileThreads { [pool = Self.pool()] job in
        pool.submit { _ in job() }
    }

    /// Those of this process that move bytes of transfers.
    ///
    /// Where they and a connection, or the program itself, want the same processor, these go first. Their jobs end on event loops: a task that they
    /// woke might begin a thread, which would inherit it.
    package static let transfers = FileThreads { [pool = Self.pool()] job in
        pool.submit { _ in
            // Linux means the calling thread by 0. Threads have no beginning of their own: so each job says it, in 0.1 µs.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
            job()
        }
    }

    /// Of `setpriority`: a tenth of the time that others get.
    private static let niceness: Int32 = 10
    /// More disks than these at a time make nobody faster.
    private static let countMax = 4

    /// Lives as long as the process: its threads wait when there is nothing to do.
    private static func pool() -> NIOThreadPool {
        let pool = NIOThreadPool(numberOfThreads: Self.countMax)
        pool.start()
        return pool
    }

    private let submit: @Sendable (@escaping @Sendable () -> Void) -> Void

    init(submit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.submit = submit
    }

    package func run(_ job: @escaping @Sendable () -> Void) {
        self.submit(job)
    }

    /// Does something on a thread and waits for it.
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
}
