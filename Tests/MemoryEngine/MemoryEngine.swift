package import Admission
package import EngineThreads
package import StorageContract

/// How an engine in memory runs.
package struct MemoryEngineConfiguration: Sendable {
    /// The folder that the memory stands for: engines of one folder have one store.
    package var folder: String
    package var housekeeping: MakeHousekeeper
    package var queues = QueueSettings()
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
        housekeeping: @escaping MakeHousekeeper,
        clock: @escaping @Sendable () -> Int64,
        monotonicNanoseconds: @escaping @Sendable () -> Int64
    ) {
        self.folder = folder
        self.housekeeping = housekeeping
        self.clock = clock
        self.monotonicNanoseconds = monotonicNanoseconds
    }
}

/// A store in memory, in values that are copied: an engine without a database.
///
/// It shows that the contract in `Sources/StorageContract` is all that an engine has to know. It is
/// for tests alone.
package final class MemoryEngine: QueuedEngine {
    private let storage: MemoryStorage
    package let queue: WriteQueue
    package let readQueues: ReadQueues
    private let writer: MemoryWriter
    private let end = ShutdownLatch()

    package init(_ configuration: MemoryEngineConfiguration) {
        let storage = MemoryStorage.standing(for: configuration.folder)
        self.storage = storage
        self.queue = WriteQueue(configuration.queues, time: configuration.monotonicNanoseconds)
        self.readQueues = ReadQueues(
            configuration.queues,
            time: configuration.monotonicNanoseconds,
            clock: configuration.clock
        )
        self.writer = MemoryWriter(storage, configuration, self.queue)
        EngineThread.start("memory-writer") { [writer = self.writer, end = self.end] in
            writer.run()
            end.happened()
        }
        self.readQueues.start(configuration.queues.readThreads) { queue in
            {
                while let next = queue.take() {
                    queue.execute(next) { job in
                        if !storage.execute(job) { job.fail(.storage(.unexpected(code: 0))) }
                    }
                }
            }
        }
    }

    deinit { self.close() }

    private func close() {
        self.queue.close()
        self.readQueues.close()
    }

    /// Executes a read on the caller's thread if it may be short, and else on one of the engine's.
    package func read(_ job: ReadJob) {
        guard !self.readQueues.isClosed else { return job.fail(.shuttingDown) }
        let isDone =
            switch job.effort {
            case .short: self.storage.execute(job)
            case .long, .search(isAttempted: false): false
            case .search(isAttempted: true): self.storage.execute(job, isAttempt: true)
            }
        if !isDone { self.readQueues.add(job) }
    }

    package func readTables<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value {
        try read(ContentsReader(self.storage.contents))
    }

    package func report(to observer: any CommitObserver) { self.writer.report(to: observer) }

    package var condition: StorageCondition { .works }

    package var statistics: EngineStatistics { self.writer.statistics }

    package func shutdown() async {
        self.close()
        await self.end.wait()
    }
}
