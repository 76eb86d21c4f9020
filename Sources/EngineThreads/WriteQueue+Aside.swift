package import RecordStore
import Synchronization

/// Work in transactions of its own, beside the batches.
extension WriteQueue {
    /// Has a job executed in a transaction of its own, and its parts in one each.
    ///
    /// - Parameters:
    ///   - job: Work that need not share a commit.
    ///   - due: Nanoseconds of `now` before which it waits.
    ///   - failure: The meaning of an error to the engine, which may report it.
    package func executeAside(
        _ job: WriteJob,
        due: Int64,
        failure: @escaping @Sendable (any Error) -> JobFailure
    ) {
        let progress = Mutex<WriteJob.Progress?>(nil)
        let administration = WaitingWrites.Administration(due: due) { transaction in
            let result = try job.execute(transaction)
            progress.withLock { $0 = result }
        } reply: { error in
            if let error { return job.fail(failure(error)) }
            switch progress.withLock({ $0 }) {
            case .finished(let reply)?: reply()
            case .unfinished(let rest)?: self.executeAside(rest, due: .min, failure: failure)
            case nil: job.fail(.storage(.unexpected(code: 0)))
            }
        }
        guard case .admitted = self.add(administration) else { return job.fail(.shuttingDown) }
    }

    /// Executes work in a transaction of its own, and blocks the caller until it is on disk.
    ///
    /// - Throws: The error of the work; `StorageFailure.unavailable` if nothing is taken any more.
    package func administer<Value: Sendable>(
        _ work: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) throws -> Value {
        let value = Mutex<Value?>(nil)
        let end = Rendezvous<(any Error)?>()
        let administration = WaitingWrites.Administration { transaction in
            let result = try work(transaction)
            value.withLock { $0 = result }
        } reply: { error in
            end.fill(error)
        }
        guard case .admitted = self.add(administration) else { throw StorageFailure.unavailable(code: 0) }
        if let error = end.wait() { throw error }
        guard let value = value.withLock({ $0 }) else { throw StorageFailure.unexpected(code: 0) }
        return value
    }
}
