package import RecordStore
import Synchronization

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
    private let configuration: MemoryEngineConfiguration
    private let storage: MemoryStorage
    private let writer: MemoryWriter
    private let searches: MemoryReads
    private let reads: MemoryReads

    package init(_ configuration: MemoryEngineConfiguration) {
        self.configuration = configuration
        self.storage = MemoryStorage.standing(for: configuration.folder)
        self.writer = MemoryWriter(self.storage, configuration)
        self.searches = MemoryReads(self.storage, configuration)
        self.reads = MemoryReads(self.storage, configuration)
        self.writer.start()
        self.searches.start()
        self.reads.start()
    }

    deinit { self.close() }

    private func close() {
        self.writer.close()
        self.searches.close()
        self.reads.close()
    }

    package func write(_ job: WriteJob) { self.writer.add(job) }

    package func read(_ job: ReadJob) {
        if case .search = job.effort { self.searches.run(job) } else { self.reads.run(job) }
    }

    package func readTables<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value {
        try read(ContentsReader(self.storage.contents))
    }

    package func administer<Value: Sendable>(
        _ work: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) throws -> Value {
        let value = Mutex<Value?>(nil)
        try self.writer.administer { transaction in
            let result = try work(transaction)
            value.withLock { $0 = result }
        }
        guard let value = value.withLock({ $0 }) else { throw StorageFailure.unexpected(code: 0) }
        return value
    }

    package func report(to observer: any CommitObserver) { self.writer.report(to: observer) }

    package var condition: StorageCondition { .works }

    package var statistics: EngineStatistics { self.writer.statistics }

    package func shutdown() async {
        self.close()
        await self.writer.ended()
    }
}

extension MemoryEngine: LoadGate {
    package var mayReject: Bool {
        self.writer.mayReject || self.searches.mayReject || self.reads.mayReject
    }

    package func rejection(ofChangeBy requester: Requester, records: Int, bytes: Int) -> StoreError? {
        self.writer.rejection(of: requester, records: records, bytes: bytes).map {
            .overloaded(retryAfterMilliseconds: $0)
        }
    }

    package var figures: LoadFigures {
        var figures = self.writer.figures
        for counted in [self.searches.overload, self.reads.overload] {
            figures.reservationsGiven += counted.reserved
            figures.reservationsKept += counted.kept
        }
        return figures
    }
}
