import RecordStore
import Synchronization

/// Connections for short reads on the caller's thread, and threads with their own for long ones.
///
/// Queries have threads of their own: a page of one may compare for dozens of times as long as any other read takes, and can't be put
/// aside for it. So those who count a lot make queries wait, and neither feeds nor fetches.
final class ReadPool: Sendable {
    typealias Read = @Sendable (ReadConnection) -> Void

    private let file: DatabaseFile
    private let idle: Mutex<[ReadConnection]>
    private let queries: ReadQueue
    /// All other reads.
    private let reads: ReadQueue
    private let sync: LogSync
    private let report: @Sendable (EngineEvent) -> Void

    /// For reads on the threads of callers.
    private static let inlineConnections = 4

    /// Opens what it needs from the start, so that no read has to.
    init(
        file: DatabaseFile,
        configuration: SQLiteEngineConfiguration,
        sync: LogSync,
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) throws {
        self.file = file
        self.queries = ReadQueue(configuration, clock: clock)
        self.reads = ReadQueue(configuration, clock: clock)
        self.sync = sync
        self.report = report
        var idle: [ReadConnection] = []
        for _ in 0..<Self.inlineConnections { idle.append(try ReadConnection(file: file)) }
        self.idle = Mutex(idle)
        for number in 0..<configuration.readThreads {
            for (name, queue) in [("find", self.queries), ("read", self.reads)] {
                let connection = try ReadConnection(file: file)
                EngineThread.start("tidemark-\(name)-\(number)") {
                    while let next = queue.take() { queue.execute(next, on: connection) }
                }
            }
        }
    }

    /// Runs a query on a thread for queries when it is the requester's turn, or says why not.
    func query(
        for requester: Requester,
        refuse: @escaping @Sendable (StoreError) -> Void,
        _ read: @escaping Read
    ) {
        Self.add(read, to: self.queries, for: requester, refuse: refuse)
    }

    private static func add(
        _ read: @escaping Read,
        to queue: ReadQueue,
        for requester: Requester,
        refuse: @escaping @Sendable (StoreError) -> Void
    ) {
        switch queue.add(for: requester, read, refuse: refuse) {
        case .admitted: return
        case .refused(let milliseconds): refuse(.overloaded(retryAfterMilliseconds: milliseconds))
        case .closed: refuse(.shuttingDown)
        }
    }

    /// Runs a read and replies with what it gives when that is on disk, or with why it could not be run.
    ///
    /// A short read runs on this thread if a connection is free, any other on a thread of the pool.
    func answer<Answer: Sendable>(
        isShort: Bool,
        for requester: Requester,
        in database: DatabaseID?,
        _ reply: @escaping @Sendable (Result<Answer, StoreError>) -> Void,
        _ read: @escaping @Sendable (ReadConnection) throws(StorageFailure) -> Result<Answer, StoreError>
    ) {
        let report = self.report
        let answer: Read = { connection in
            do throws(StorageFailure) {
                self.reply(with: try read(connection), of: database, reply)
            } catch {
                reply(.failure(SQLiteEngine.refusal(for: error, report)))
            }
        }
        let isDone =
            isShort
            && self.attempt { connection in
                answer(connection)
                return true
            }
        guard !isDone else { return }
        Self.add(answer, to: self.reads, for: requester, refuse: { reply(.failure($0)) })
    }

    /// Replies with what was read of a database when it is on disk.
    func reply<Answer: Sendable>(
        with answer: Result<Answer, StoreError>,
        of database: DatabaseID?,
        _ reply: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        guard !self.sync.isIdle else { return reply(answer) }
        let report = self.report
        self.sync.whenSynced(database) { loss in
            reply(loss.map { .failure(SQLiteEngine.refusal(for: $0, report)) } ?? answer)
        }
    }

    /// Runs a read on this thread if a connection is free; false: it was not, or the read gave up.
    func attempt(_ read: (ReadConnection) -> Bool) -> Bool {
        guard !self.reads.isClosed, let connection = self.idle.withLock({ $0.popLast() }) else {
            return false
        }
        defer { self.idle.withLock { $0.append(connection) } }
        return read(connection)
    }

    var mayReject: Bool { self.queries.mayReject || self.reads.mayReject }

    /// Of queries, and of all other reads.
    var overload: [OverloadRule.Counted] { [self.queries.overload, self.reads.overload] }

    /// Lets the threads finish what waits.
    func close() {
        self.queries.close()
        self.reads.close()
        self.idle.withLock { $0 = [] }
    }
}
