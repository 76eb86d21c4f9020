package import EngineThreads
import GRDB
import SQLiteSetup
package import StorageContract
import Synchronization

/// The store in one SQLite file.
///
/// One thread writes, with many queued requests in one transaction; readers never wait for it.
/// Another process may open the same folder for administration while this one serves.
package final class SQLiteEngine: QueuedEngine {
    package let queue: WriteQueue
    private let writer: Writer
    let reads: ReadPool
    private let tables: TableConnection
    private let observation = CommitObservation()
    let configuration: SQLiteEngineConfiguration
    let report: @Sendable (EngineEvent) -> Void
    private let shutdown: ShutdownLatch
    private let checkpoint: IdleCheckpoint
    private let room: DiskRoom
    private let reachability: Reachability
    let sync: LogSync

    /// Opens the store; creates it if it is absent.
    ///
    /// The clock gives milliseconds since 1970. Both closures are called from any thread, `report`
    /// also while requests wait: they must be fast. Throws `SQLiteEngineError`.
    package init(
        configuration: SQLiteEngineConfiguration,
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) throws {
        let file = try DatabaseFile(configuration: configuration)
        let report = PageSum.naming(file.path, report)
        self.configuration = configuration
        self.report = report
        let reserve = DiskReserve(configuration)
        let database = try reserve.lend { () throws(SQLiteEngineError) in
            try file.openWriter { report(.logTorn) }
        }
        self.room = DiskRoom(reserve: reserve, file: file, report: report)
        let queue = WriteQueue(configuration.queues, time: configuration.monotonicNanoseconds)
        self.queue = queue
        do {
            self.checkpoint = try IdleCheckpoint(
                file: file,
                emptyIntervalSeconds: configuration.logSecondsMax,
                report: report
            )
            self.sync = try LogSync(file: file, configuration: configuration, queue: queue, report: report)
        } catch {
            throw SQLiteEngineError.cannotOpen(path: file.path, reason: String(describing: error))
        }
        self.reachability = Reachability(report: report)
        self.writer = Writer(
            queue: self.queue,
            checkpoint: self.checkpoint,
            room: self.room,
            reachability: self.reachability,
            sync: self.sync,
            clock: clock,
            report: report
        )
        do {
            self.reads = try ReadPool(
                file: file,
                configuration: configuration,
                sync: self.sync,
                self.reachability,
                clock: clock,
                report: report
            )
            self.tables = try TableConnection(queue: file.openReader())
        } catch {
            throw SQLiteEngineError.cannotOpen(path: file.path, reason: String(describing: error))
        }
        self.shutdown = ShutdownLatch()
        guard !configuration.isReader else {
            try self.closeWriter(database)
            return
        }
        try Self.startWriter(
            self.writer,
            database,
            self.observation,
            configuration,
            self.shutdown
        )
    }

    deinit {
        self.queue.close()
        self.reads.close()
        self.checkpoint.close()
    }

    /// Releases the writing connection, which a reader needed only to validate the file.
    private func closeWriter(_ database: DatabaseQueue) throws {
        self.queue.close()
        self.checkpoint.close()
        self.sync.close()
        try database.close()
        self.shutdown.happened()
    }

    /// Starts the thread that owns the writing connection for the engine's lifetime.
    private static func startWriter(
        _ writer: Writer,
        _ database: DatabaseQueue,
        _ observation: CommitObservation,
        _ configuration: SQLiteEngineConfiguration,
        _ shutdown: ShutdownLatch
    ) throws {
        let start = Rendezvous<StorageFailure?>()
        EngineThread.start("tidemark-writer") {
            database.inDatabase { database in
                do throws(StorageFailure) {
                    guard let connection = database.sqliteConnection else {
                        throw .unexpected(code: 0)
                    }
                    let transaction = try WriterTransaction(
                        connection: connection,
                        observation: observation
                    )
                    let housekeeping = try WriterHousekeeping(
                        configuration,
                        transaction: transaction,
                        database: database
                    )
                    start.fill(nil)
                    writer.run(transaction, housekeeping, database)
                } catch {
                    start.fill(error)
                }
            }
            try? database.close()
            shutdown.happened()
        }
        if let failure = start.wait() { throw failure }
    }

    package var readQueues: ReadQueues { self.reads.queues }

    package var failureAside: @Sendable (any Error) -> JobFailure {
        { [reachability, report] error in
            let failure = StorageFailure(error)
            Self.tell(of: failure, .writes, reachability, report)
            return failure.isForWantOfRoom ? .diskFull : .storage(failure)
        }
    }

    package func report(to observer: any CommitObserver) { self.observation.begin(with: observer) }

    package func read(_ job: ReadJob) { self.reads.run(job) }

    /// Reports a failure to the operator.
    static func tell(
        of failure: StorageFailure,
        _ side: Reachability.Side,
        _ reachability: Reachability,
        _ report: (EngineEvent) -> Void
    ) {
        switch failure {
        // `DiskRoom` has reported the disk's refusal.
        case .unavailable where side == .writes && failure.isOfWriting: report(.changesRefused(1))
        case .unavailable(let code):
            reachability.failed(side)
            report(.storageUnavailable(code: code))
        case .unexpected(let code): report(.requestFaulted(code: code))
        case .conflict, .outcomeUnknown, .exceeds: break
        }
    }

    package func readTables<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value {
        try self.tables.read(read)
    }

    package var statistics: EngineStatistics {
        var statistics = self.writer.counted
        statistics.requestsRefused = self.queue.refusals
        statistics.logSyncs = self.queue.logSyncs
        let path = StoreFile.path(in: self.configuration.directory)
        statistics.databaseBytes = DatabaseFile.bytes(at: path)
        statistics.reserveMissingBytes = self.reserveMissingBytes
        statistics.damagedReads = sqlite_setup_damaged_reads()
        statistics.databaseLogBytes = DatabaseFile.bytes(at: path + "-wal")
        return statistics
    }

    package var condition: StorageCondition { self.room.condition }

    /// Bytes that the reserve on the disk lacks: other uses should leave them free.
    package var reserveMissingBytes: Int64 { self.room.reserve.missingBytes }

    package func shutdown() async {
        self.queue.close()
        self.reads.close()
        await self.shutdown.wait()
        // The writer has closed it.
        await self.checkpoint.ended()
    }
}
