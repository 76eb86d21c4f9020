import Admission
import EngineThreads
import StorageContract
import Synchronization

/// Connections for short reads on the caller's thread, and threads with connections of their own
/// for long reads.
///
/// Expensive counts delay queries, but neither feeds nor fetches (`ReadQueues`).
final class ReadPool: Sendable {
    private let file: DatabaseFile
    private let idle: Mutex<[ReadConnection]>
    let queues: ReadQueues
    private let sync: LogSync
    private let reachability: Reachability
    private let report: @Sendable (EngineEvent) -> Void

    /// For reads on the threads of callers.
    private static let inlineConnections = 4

    /// Opens all connections at the start, so that no read has to.
    init(
        file: DatabaseFile,
        configuration: SQLiteEngineConfiguration,
        sync: LogSync,
        _ reachability: Reachability,
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) throws {
        self.file = file
        self.queues = ReadQueues(
            configuration.queues,
            time: configuration.monotonicNanoseconds,
            clock: clock
        )
        self.sync = sync
        self.reachability = reachability
        self.report = report
        var idle: [ReadConnection] = []
        for _ in 0..<Self.inlineConnections { idle.append(try ReadConnection(file: file)) }
        self.idle = Mutex(idle)
        try self.queues.start(configuration.queues.readThreads) { queue in
            let connection = try ReadConnection(file: file)
            return {
                while let next = queue.take() {
                    queue.execute(next) { self.finish($0, on: connection) }
                }
            }
        }
    }

    /// Executes a job in one snapshot, and calls back when everything it read is on disk.
    ///
    /// A short read, and the attempt of a search, run on this thread if a connection is free; other
    /// jobs run on a thread of the pool.
    func run(_ job: ReadJob) {
        let isDone =
            switch job.effort {
            case .short: self.attempt { self.execute(job, isAttempt: false, on: $0) }
            case .long, .search(isAttempted: false): false
            case .search(isAttempted: true): self.attempt { self.execute(job, isAttempt: true, on: $0) }
            }
        if !isDone { self.queues.add(job) }
    }

    private func finish(_ job: ReadJob, on connection: ReadConnection) {
        guard !self.execute(job, isAttempt: false, on: connection) else { return }
        job.fail(.storage(.unexpected(code: 0)))
    }

    /// Returns whether the job is complete; an attempt may have given up.
    private func execute(_ job: ReadJob, isAttempt: Bool, on connection: ReadConnection) -> Bool {
        do throws(StorageFailure) {
            let reply = try connection.snapshot { () throws(StorageFailure) in
                try job.body(connection, isAttempt)
            }
            guard let reply else { return false }
            self.reachability.worked(.reads)
            self.whenDurable(job.database, reply, fail: job.fail)
        } catch {
            SQLiteEngine.tell(of: error, .reads, self.reachability, self.report)
            job.fail(.storage(error))
        }
        return true
    }

    /// Calls back when everything that was read of a database is on disk.
    private func whenDurable(
        _ database: DatabaseID?,
        _ reply: @escaping ReadJob.Reply,
        fail: @escaping @Sendable (JobFailure) -> Void
    ) {
        guard !self.sync.isIdle else { return reply() }
        self.sync.whenSynced(database) { [reachability, report] loss in
            guard let loss else { return reply() }
            SQLiteEngine.tell(of: loss, .reads, reachability, report)
            fail(.storage(loss))
        }
    }

    /// Runs a read on this thread if a connection is free; `false` if none was, or the read gave
    /// up.
    private func attempt(_ read: (ReadConnection) -> Bool) -> Bool {
        guard !self.queues.isClosed, let connection = self.idle.withLock({ $0.popLast() }) else {
            return false
        }
        defer { self.idle.withLock { $0.append(connection) } }
        return read(connection)
    }

    /// Lets the threads finish queued jobs.
    func close() {
        self.queues.close()
        self.idle.withLock { $0 = [] }
    }
}
