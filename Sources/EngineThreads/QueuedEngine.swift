import Admission
package import StorageContract

/// An engine with jobs that wait in the queues of this module.
package protocol QueuedEngine: StorageEngine, LoadGate {
    var queue: WriteQueue { get }
    var readQueues: ReadQueues { get }
    /// Maps an error of work outside the batches to a failure; the engine may report it.
    var failureAside: @Sendable (any Error) -> JobFailure { get }
}

extension QueuedEngine {
    package func write(_ job: WriteJob) {
        if case .aside(let milliseconds) = job.schedule {
            let wait = MonotonicTime.nanoseconds(ofMilliseconds: milliseconds)
            let due = milliseconds > 0 ? self.queue.now + wait : .min
            return self.queue.executeAside(job, due: due, failure: self.failureAside)
        }
        switch self.queue.add(job) {
        case .admitted: return
        case .refused(let milliseconds): job.fail(.overloaded(retryAfterMilliseconds: milliseconds))
        case .closed: job.fail(.shuttingDown)
        }
    }

    package var failureAside: @Sendable (any Error) -> JobFailure {
        { .storage($0 as? StorageFailure ?? .unexpected(code: 0)) }
    }

    package func administer<Value: Sendable>(
        _ work: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) throws -> Value {
        try self.queue.administer(work)
    }

    package var mayReject: Bool { self.queue.mayReject || self.readQueues.mayReject }

    package func rejection(ofChangeBy requester: Requester, records: Int, bytes: Int) -> StoreError? {
        guard self.queue.mayReject else { return nil }
        return self.queue.rejection(of: requester, records: records, bytes: bytes).map {
            .overloaded(retryAfterMilliseconds: $0)
        }
    }

    package var figures: LoadFigures {
        var figures = LoadFigures()
        (figures.requestsWaiting, figures.bytesWaiting) = self.queue.load
        let reads = self.readQueues
        for counted in [self.queue.overload, reads.searches.overload, reads.others.overload] {
            figures.reservationsGiven += counted.reserved
            figures.reservationsKept += counted.kept
        }
        return figures
    }
}
