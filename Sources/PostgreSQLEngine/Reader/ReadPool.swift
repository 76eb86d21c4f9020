import EngineThreads
import RecordStore

/// Threads that read, each with a connection of its own, and the reads that wait for them.
///
/// Every read goes through a server on the network, so none runs on the thread of its caller, which may
/// be an event loop. Searches have threads of their own: other reads do not wait for them.
final class ReadPool: Sendable {
    private let searches: ReadQueue
    private let reads: ReadQueue

    /// So many reads share a snapshot at most, if they wait.
    private static let togetherMax = 64

    init(
        _ configuration: PostgreSQLEngineConfiguration,
        witness: ClusterWitness?,
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        func queue() -> ReadQueue {
            ReadQueue(
                WaitingReads(
                    threads: configuration.readThreads,
                    waitNanoseconds: configuration.readerWaitNanoseconds
                ),
                time: configuration.monotonicNanoseconds,
                clock: clock
            )
        }
        self.searches = queue()
        self.reads = queue()
        for number in 0..<configuration.readThreads {
            for (name, queue) in [("find", self.searches), ("read", self.reads)] {
                let target = configuration.target
                EngineThread.start("tidemark-\(name)-\(number)") {
                    let session = ReadSession(target, witness: witness, report: report)
                    while true {
                        let taken = queue.take(upTo: Self.togetherMax) { session.rest() }
                        if taken.isEmpty { break }
                        queue.execute(taken) { session.execute($0) }
                    }
                }
            }
        }
    }

    func run(_ job: ReadJob) {
        var queue = self.reads
        if case .search = job.effort { queue = self.searches }
        switch queue.add(job) {
        case .admitted: return
        case .refused(let milliseconds): job.fail(.overloaded(retryAfterMilliseconds: milliseconds))
        case .closed: job.fail(.shuttingDown)
        }
    }

    var mayReject: Bool { self.searches.mayReject || self.reads.mayReject }

    /// Of searches, and of all other reads.
    var overload: [OverloadRule.Counted] { [self.searches.overload, self.reads.overload] }

    func close() {
        self.searches.close()
        self.reads.close()
    }
}

/// A connection for reading, which is made when it is needed and made again when it was lost.
final class ReadSession {
    private let target: ConnectionTarget
    private let witness: ClusterWitness?
    private let report: @Sendable (EngineEvent) -> Void
    private var snapshot: PostgreSQLSnapshot?

    init(
        _ target: ConnectionTarget,
        witness: ClusterWitness?,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.target = target
        self.witness = witness
        self.report = report
    }

    /// Executes jobs in one snapshot, whose rows are prefetched together.
    func execute(_ jobs: [ReadJob]) {
        var left = jobs[...]
        if jobs.count > 1 {
            do throws(StorageFailure) {
                try self.connected({ $0 }).read(
                    prefetching: jobs.compactMap(\.prefetch),
                    { (snapshot) throws(StorageFailure) in
                        while let job = left.first {
                            let reply = try Self.execute(job, in: snapshot)
                            try snapshot.confirm()
                            reply()
                            left.removeFirst()
                        }
                    },
                    failure: { $0 }
                )
            } catch {
                // Each that is left is read alone, and fails alone.
                left.first?.sink?.removeAll()
            }
        }
        for job in left { self.execute(job) }
    }

    private static func execute(
        _ job: ReadJob,
        in snapshot: PostgreSQLSnapshot
    ) throws(StorageFailure) -> ReadJob.Reply {
        guard let reply = try job.body(snapshot, false) else { throw .unexpected(code: 0) }
        return reply
    }

    private func execute(_ job: ReadJob) {
        do throws(StorageFailure) {
            let reply = try self.read(
                prefetching: job.prefetch.map { [$0] } ?? [],
                { (snapshot) throws(StorageFailure) in try Self.execute(job, in: snapshot) },
                anew: { job.sink?.removeAll() },
                failure: { $0 }
            )
            reply()
        } catch {
            switch error {
            case .unavailable(let code): self.report(.storageUnavailable(code: code))
            case .unexpected(let code): self.report(.requestFaulted(code: code))
            case .conflict, .outcomeUnknown: break
            }
            job.fail(.storage(error))
        }
    }

    /// Reads in a snapshot, and once more in another one if the connection was lost meanwhile, or if
    /// what was remembered is not the same any more.
    ///
    /// `anew` is called before it reads once more.
    func read<Value, Failure: Error>(
        prefetching prefetches: [Prefetch] = [],
        _ body: (PostgreSQLSnapshot) throws(Failure) -> Value,
        anew: () -> Void = {},
        failure: (StorageFailure) -> Failure
    ) throws(Failure) -> Value {
        do throws(Failure) {
            return try self.connected(failure).read(prefetching: prefetches, body, failure: failure)
        } catch {
            guard let snapshot, snapshot.connection.isLost || snapshot.isStale else { throw error }
            anew()
            return try self.connected(failure).read(prefetching: prefetches, body, failure: failure)
        }
    }

    /// Ends the last snapshot, because no other follows at once.
    func rest() { self.snapshot?.rest() }

    private func connected<Failure: Error>(
        _ failure: (StorageFailure) -> Failure
    ) throws(Failure) -> PostgreSQLSnapshot {
        if let snapshot = self.snapshot, !snapshot.connection.isLost { return snapshot }
        self.snapshot = nil
        do throws(PostgreSQLError) {
            let connection = try PostgreSQLConnection(self.target)
            try self.witness?.check(connection)
            let made = PostgreSQLSnapshot(connection)
            self.snapshot = made
            return made
        } catch {
            throw failure(.unavailable(code: error.state?.number ?? 0))
        }
    }
}
