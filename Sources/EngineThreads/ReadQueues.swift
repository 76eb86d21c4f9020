package import Admission
package import StorageContract

/// Two queues of reads with threads of their own.
///
/// A page of a search may run for dozens of times as long as any other read, and can't be
/// preempted. So other reads do not wait for searches.
package struct ReadQueues: Sendable {
    package let searches: ReadQueue
    package let others: ReadQueue

    /// `togetherMax` is the number of reads that share a snapshot while more are queued.
    package init(
        _ settings: QueueSettings,
        togetherMax: (searches: Int, others: Int) = (1, 1),
        time: @escaping @Sendable () -> Int64,
        clock: @escaping @Sendable () -> Int64
    ) {
        func queue(_ togetherMax: Int) -> ReadQueue {
            let waiting = WaitingReads(
                threads: settings.readThreads,
                waitNanoseconds: settings.readerWaitNanoseconds,
                togetherMax: togetherMax
            )
            return ReadQueue(waiting, time: time, clock: clock)
        }
        self.searches = queue(togetherMax.searches)
        self.others = queue(togetherMax.others)
    }

    /// Starts the threads of both queues, each with a body of its own.
    package func start(
        _ threads: Int,
        _ body: (ReadQueue) throws -> @Sendable () -> Void
    ) rethrows {
        for number in 0..<threads {
            EngineThread.start("tidemark-find-\(number)", try body(self.searches))
            EngineThread.start("tidemark-read-\(number)", try body(self.others))
        }
    }

    /// Queues a job for a thread, or fails it.
    package func add(_ job: ReadJob) {
        var queue = self.others
        if case .search = job.effort { queue = self.searches }
        switch queue.add(job) {
        case .admitted: return
        case .refused(let milliseconds): job.fail(.overloaded(retryAfterMilliseconds: milliseconds))
        case .closed: job.fail(.shuttingDown)
        }
    }

    var mayReject: Bool { self.searches.mayReject || self.others.mayReject }

    package var isClosed: Bool { self.others.isClosed }

    /// Lets the threads finish queued jobs.
    package func close() {
        self.searches.close()
        self.others.close()
    }
}
