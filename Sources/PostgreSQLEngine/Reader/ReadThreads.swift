import Admission
import EngineThreads
import StorageContract

/// Threads that read, each with a session of its own.
///
/// Every read goes through a server on the network, so none runs on the thread of its caller, which may
/// be an event loop.
extension ReadSession {
    /// The most searches that share a snapshot: a first list with its records may take 4 MiB.
    private static let searchesTogetherMax = 8
    /// The most other reads that do.
    private static let readsTogetherMax = 64

    /// Starts the threads.
    ///
    /// - Returns: The queues from which they take reads, until these are closed.
    static func start(
        _ configuration: PostgreSQLEngineConfiguration,
        witness: ClusterWitness?,
        _ reachability: Reachability,
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) -> ReadQueues {
        let queues = ReadQueues(
            configuration.queues,
            togetherMax: (searches: self.searchesTogetherMax, others: self.readsTogetherMax),
            time: configuration.monotonicNanoseconds,
            clock: clock
        )
        queues.start(configuration.queues.readThreads) { queue in
            let target = configuration.target
            let togetherMax = queue === queues.searches ? self.searchesTogetherMax : self.readsTogetherMax
            return {
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
        return queues
    }
}
