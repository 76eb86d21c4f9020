import EngineThreads
package import RecordStore

/// The store in one database of a PostgreSQL server.
///
/// One thread writes, many waiting requests in one transaction. Readers have connections of their own and
/// never wait for it. A commit is seen only when it is durable, so no reply waits for a sync of ours.
///
/// One server has a store at a time (`StoreLease`). Commands of an operator may write beside it.
package final class PostgreSQLEngine: StorageEngine {
    private let queue: WriteQueue
    private let writer: PostgreSQLWriter
    private let reads: ReadPool
    /// The connection of `readTables`.
    private let tables: TableSession
    private let end = ShutdownLatch()

    /// Opens the store, and makes its tables where the role says so.
    ///
    /// The clock gives milliseconds since 1970. Both closures are called from any thread, `report` also
    /// while requests wait: be quick.
    ///
    /// - Throws: `PostgreSQLEngineError`.
    package init(
        configuration: PostgreSQLEngineConfiguration,
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) throws(PostgreSQLEngineError) {
        let opening = StoreOpening(target: configuration.target)
        var lease: StoreLease?
        switch configuration.role {
        case .server(let node):
            _ = try opening.prepare(makesTables: true)
            lease = try StoreLease.take(configuration.target, node: node)
        case .command(let makesTables): _ = try opening.prepare(makesTables: makesTables)
        }
        self.queue = WriteQueue(
            WaitingWrites(
                requestsMax: configuration.waitingRequestsMax,
                bytesMax: configuration.waitingBytesMax,
                waitNanoseconds: configuration.writerWaitNanoseconds
            ),
            time: configuration.monotonicNanoseconds
        )
        self.writer = PostgreSQLWriter(
            queue: self.queue,
            configuration: configuration,
            lease: lease,
            clock: clock,
            report: report
        )
        self.reads = ReadPool(configuration, clock: clock, report: report)
        self.tables = TableSession(ReadSession(configuration.target, report: report))
        EngineThread.start("tidemark-writer") { [writer = self.writer, end = self.end] in
            writer.run()
            end.happened()
        }
    }

    /// Makes the tables of an empty store, unless they are there, and returns the store's identity.
    @discardableResult
    package static func prepare(_ target: ConnectionTarget) throws(PostgreSQLEngineError) -> [UInt8] {
        try StoreOpening(target: target).prepare(makesTables: true)
    }

    /// Checks server and database as an engine does that makes its tables, and makes none.
    package static func check(_ target: ConnectionTarget) throws(PostgreSQLEngineError) {
        do throws(PostgreSQLEngineError) {
            _ = try StoreOpening(target: target).prepare(makesTables: false)
        } catch {
            if case .isMissing = error { return }
            throw error
        }
    }

    /// The identity of the store in a database; `nil` if there is none, or a move has not completed it.
    package static func identity(_ target: ConnectionTarget) throws(PostgreSQLEngineError) -> [UInt8]? {
        do throws(PostgreSQLEngineError) {
            return try StoreOpening(target: target).prepare(makesTables: false)
        } catch {
            switch error {
            case .isMissing, .moveIsUnfinished: return nil
            default: throw error
            }
        }
    }

    deinit {
        self.queue.close()
        self.reads.close()
    }

    package func write(_ job: WriteJob) {
        if case .aside(let milliseconds) = job.schedule {
            let due = milliseconds > 0 ? self.queue.now + milliseconds * 1_000_000 : .min
            return self.queue.executeAside(job, due: due) { error in
                let failure = error as? StorageFailure ?? .unexpected(code: 0)
                return failure.isForWantOfRoom ? .diskFull : .storage(failure)
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

    package func read(_ job: ReadJob) { self.reads.run(job) }

    package func readTables<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value {
        try self.tables.read(read)
    }

    package func administer<Value: Sendable>(
        _ work: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) throws -> Value {
        try self.queue.administer(work)
    }

    package func report(to observer: any CommitObserver) { self.writer.report(to: observer) }

    package var statistics: EngineStatistics { self.writer.statistics }

    package func shutdown() async {
        self.queue.close()
        self.reads.close()
        await self.end.wait()
    }
}

extension PostgreSQLEngine: LoadGate {
    package var mayReject: Bool { self.queue.mayReject || self.reads.mayReject }

    package func rejection(ofChangeBy requester: Requester, records: Int, bytes: Int) -> StoreError? {
        guard self.queue.mayReject,
            let milliseconds = self.queue.rejection(of: requester, records: records, bytes: bytes)
        else { return nil }
        self.writer.countRefusal()
        return .overloaded(retryAfterMilliseconds: milliseconds)
    }

    package var figures: LoadFigures {
        var figures = LoadFigures()
        (figures.requestsWaiting, figures.bytesWaiting) = self.queue.load
        for counted in [self.queue.overload] + self.reads.overload {
            figures.reservationsGiven += counted.reserved
            figures.reservationsKept += counted.kept
        }
        return figures
    }
}
