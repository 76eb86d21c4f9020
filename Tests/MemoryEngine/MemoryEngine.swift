import EngineThreads
package import RecordStore

/// How an engine in memory runs.
package struct MemoryEngineConfiguration: Sendable {
    /// The folder that the memory stands for: engines of one folder have one store.
    package var folder: String
    package var housekeeping = HousekeepingRules()
    package var waitingRequestsMax = 4_096
    package var waitingBytesMax = 64 * 1024 * 1024
    package var writerWaitNanoseconds: Int64 = 10_000_000
    package var readerWaitNanoseconds: Int64 = 25_000_000
    package var commitRecordsMax = 4_000
    package var commitBytesMax = 8 * 1024 * 1024
    /// For searches, and as many for other long reads.
    package var readThreads = 2
    /// What all databases may have together, by their counters; `nil` for no bound.
    package var bytesMax: Int64?
    /// Is called at each commit, before anybody sees it; any number but 0 is the failure of a disk.
    package var sync: @Sendable () -> Int32 = { 0 }
    /// Milliseconds since 1970.
    package var clock: @Sendable () -> Int64
    /// Of a clock that only goes forward.
    package var monotonicNanoseconds: @Sendable () -> Int64

    package init(
        folder: String,
        clock: @escaping @Sendable () -> Int64,
        monotonicNanoseconds: @escaping @Sendable () -> Int64
    ) {
        self.folder = folder
        self.clock = clock
        self.monotonicNanoseconds = monotonicNanoseconds
    }
}

/// A store in memory, in values that are copied: an engine without a database.
///
/// It shows that the contract in `Sources/RecordStore/Engine` is all that an engine has to know. It is
/// for tests alone.
package final class MemoryEngine: StorageEngine {
    private let storage: MemoryStorage
    private let queue: WriteQueue
    private let writer: MemoryWriter
    private let searches: ReadQueue
    private let reads: ReadQueue
    private let end = ShutdownLatch()

    package init(_ configuration: MemoryEngineConfiguration) {
        let storage = MemoryStorage.standing(for: configuration.folder)
        self.storage = storage
        self.queue = WriteQueue(
            WaitingWrites(
                requestsMax: configuration.waitingRequestsMax,
                bytesMax: configuration.waitingBytesMax,
                waitNanoseconds: configuration.writerWaitNanoseconds
            ),
            time: configuration.monotonicNanoseconds
        )
        self.writer = MemoryWriter(storage, configuration, self.queue)
        func reads() -> ReadQueue {
            ReadQueue(
                WaitingReads(
                    threads: configuration.readThreads,
                    waitNanoseconds: configuration.readerWaitNanoseconds
                ),
                time: configuration.monotonicNanoseconds,
                clock: configuration.clock
            )
        }
        self.searches = reads()
        self.reads = reads()
        EngineThread.start("memory-writer") { [writer = self.writer, end = self.end] in
            writer.run()
            end.happened()
        }
        for queue in [self.searches, self.reads] {
            for _ in 0..<configuration.readThreads {
                EngineThread.start("memory-read") {
                    while let next = queue.take() {
                        queue.execute(next) { job in
                            if !storage.execute(job) { job.fail(.storage(.unexpected(code: 0))) }
                        }
                    }
                }
            }
        }
    }

    deinit { self.close() }

    private func close() {
        self.queue.close()
        self.searches.close()
        self.reads.close()
    }

    package func write(_ job: WriteJob) {
        if case .aside(let milliseconds) = job.schedule {
            let wait = MonotonicTime.nanoseconds(ofMilliseconds: milliseconds)
            let due = milliseconds > 0 ? self.queue.now + wait : .min
            return self.queue.executeAside(job, due: due) { error in
                .storage(error as? StorageFailure ?? .unexpected(code: 0))
            }
        }
        switch self.queue.add(job) {
        case .admitted: return
        case .refused(let milliseconds):
            self.writer.countRefusal()
            job.fail(.overloaded(retryAfterMilliseconds: milliseconds))
        case .closed: job.fail(.shuttingDown)
        }
    }

    /// Executes a read on the caller's thread if it may be short, and else on one of the engine's.
    package func read(_ job: ReadJob) {
        guard !self.reads.isClosed else { return job.fail(.shuttingDown) }
        var queue = self.reads
        switch job.effort {
        case .short: if self.storage.execute(job) { return }
        case .long: break
        case .search(let isAttempted):
            if isAttempted, self.storage.execute(job, isAttempt: true) { return }
            queue = self.searches
        }
        switch queue.add(job) {
        case .admitted: return
        case .refused(let milliseconds): job.fail(.overloaded(retryAfterMilliseconds: milliseconds))
        case .closed: job.fail(.shuttingDown)
        }
    }

    package func readTables<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value {
        try read(ContentsReader(self.storage.contents))
    }

    package func administer<Value: Sendable>(
        _ work: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) throws -> Value {
        try self.queue.administer(work)
    }

    package func report(to observer: any CommitObserver) { self.writer.report(to: observer) }

    package var condition: StorageCondition { .works }

    package var statistics: EngineStatistics { self.writer.statistics }

    package func shutdown() async {
        self.close()
        await self.end.wait()
    }
}

extension MemoryEngine: LoadGate {
    package var mayReject: Bool {
        self.queue.mayReject || self.searches.mayReject || self.reads.mayReject
    }

    package func rejection(ofChangeBy requester: Requester, records: Int, bytes: Int) -> StoreError? {
        self.queue.rejection(of: requester, records: records, bytes: bytes).map {
            .overloaded(retryAfterMilliseconds: $0)
        }
    }

    package var figures: LoadFigures {
        var figures = LoadFigures()
        (figures.requestsWaiting, figures.bytesWaiting) = self.queue.load
        for counted in [self.queue.overload, self.searches.overload, self.reads.overload] {
            figures.reservationsGiven += counted.reserved
            figures.reservationsKept += counted.kept
        }
        return figures
    }
}
