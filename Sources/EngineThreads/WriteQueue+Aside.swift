package import StorageContract
import Synchronization

/// Work in separate transactions, beside the batches.
extension WriteQueue {
    /// Executes a job in a transaction of its own, and each of its parts likewise.
    ///
    /// - Parameters:
    ///   - job: Work that need not share a commit.
    ///   - due: Earliest start, in nanoseconds of `now`.
    ///   - failure: Maps an error to a failure; the engine may report it.
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

    /// Executes work in a transaction of its own, and blocks the caller until it is durable.
    ///
    /// - Throws: The error of the work; `StorageFailure.unavailable` if the queue is closed.
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
