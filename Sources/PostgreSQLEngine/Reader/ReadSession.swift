import StorageContract

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

    /// Executes jobs in one snapshot, and returns the offsets of those that are to be read alone.
    ///
    /// These take too long for a snapshot with others, or something has failed: each fails alone.
    func executeTogether(_ jobs: [ReadJob]) -> [Int] {
        var left: [Int] = []
        var next = 0
        do throws(StorageFailure) {
            try self.connected({ $0 }).read(
                prefetching: jobs.compactMap(\.prefetch),
                isAttempt: true,
                { (snapshot) throws(StorageFailure) in
                    for job in jobs {
                        let reply = try job.body(snapshot, true)
                        if let reply { reply() } else { left.append(next) }
                        next += 1
                    }
                },
                failure: { $0 }
            )
        } catch {}
        left += next..<jobs.count
        for offset in left { jobs[offset].sink?.removeAll() }
        return left
    }

    private static func execute(
        _ job: ReadJob,
        in snapshot: PostgreSQLSnapshot
    ) throws(StorageFailure) -> ReadJob.Reply {
        guard let reply = try job.body(snapshot, false) else { throw .unexpected(code: 0) }
        return reply
    }

    /// Executes a job in a snapshot of its own.
    func execute(_ job: ReadJob) {
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
            case .conflict, .outcomeUnknown, .exceeds: break
            }
            job.fail(.storage(error))
        }
    }

    /// Reads in a snapshot, and once more in another one if the connection was lost meanwhile.
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
            guard let snapshot, snapshot.connection.isLost else { throw error }
            anew()
            return try self.connected(failure).read(prefetching: prefetches, body, failure: failure)
        }
    }

    var isConnected: Bool { self.snapshot.map { !$0.connection.isLost } ?? false }

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
