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
    private static let readsTogetherMax = 64
    /// So many searches: a first list with its records may take 4 MiB.
    private static let searchesTogetherMax = 8

    init(
        _ configuration: PostgreSQLEngineConfiguration,
        witness: ClusterWitness?,
        _ reachability: Reachability,
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        func queue(togetherMax: Int) -> ReadQueue {
            ReadQueue(
                WaitingReads(
                    threads: configuration.readThreads,
                    waitNanoseconds: configuration.readerWaitNanoseconds,
                    togetherMax: togetherMax
                ),
                time: configuration.monotonicNanoseconds,
                clock: clock
            )
        }
        self.searches = queue(togetherMax: Self.searchesTogetherMax)
        self.reads = queue(togetherMax: Self.readsTogetherMax)
        for number in 0..<configuration.readThreads {
            for (name, queue, togetherMax) in [
                ("find", self.searches, Self.searchesTogetherMax),
                ("read", self.reads, Self.readsTogetherMax),
            ] {
                let target = configuration.target
                EngineThread.start("tidemark-\(name)-\(number)") {
                    let session = ReadSession(target, witness: witness, report: report)
                    while true {
                        let taken = queue.take(upTo: togetherMax) { session.rest() }
                        if taken.isEmpty { break }
                        queue.execute(taken) { jobs in
                            session.executeTogether(jobs)
                        } alone: { job in
                            session.execute(job)
                        }
                        if session.isConnected { reachability.worked(.reads) }
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
