import NIOPosix

/// Where files are read, written and hashed: threads of their own, so that neither a connection nor a task ever waits for a disk.
///
/// Jobs should be short, a few megabytes each, so that they take turns. Unbounded: who submits bounds himself.
package struct FileThreads: Sendable {
    /// Those of this process.
    package static let shared = FileThreads { [pool = Self.pool] job in
        pool.submit { _ in job() }
    }

    /// More disks than these at a time make nobody faster.
    private static let countMax = 4
    /// Lives as long as the process: its threads wait when there is nothing to do.
    private static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: Self.countMax)
        pool.start()
        return pool
    }()

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
