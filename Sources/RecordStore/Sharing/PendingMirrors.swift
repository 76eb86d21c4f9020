import StorageContract

/// Reads that show every change of a shared database that was acknowledged before.
///
/// A change of a shared zone leaves entries in the outbox (`MirrorOutbox`), and they are applied some
/// time later. A snapshot in which some wait does not show all. So they are applied first, in the
/// requester's turn, and the read follows in another snapshot.
struct PendingMirrors: Sendable {
    let engine: any StorageEngine

    /// Executes a read, once views that wait for something are up to date.
    ///
    /// A user who has no room to wait is refused. If the entries cannot be applied for another
    /// reason, the read shows what is there.
    func read(_ job: ReadJob) {
        var checking = ReadJob(
            requester: job.requester,
            effort: job.effort,
            body: { (snapshot, isAttempt) throws(StorageFailure) in
                guard try MirrorOutbox.hasEntries(in: snapshot) else {
                    return try job.body(snapshot, isAttempt)
                }
                return { self.apply(before: job, retriesLeft: RequestExecution.retriesMax) }
            },
            fail: job.fail
        )
        checking.sink = job.sink
        checking.prefetch = job.prefetch
        self.engine.read(checking)
    }

    private func apply(before job: ReadJob, retriesLeft: Int) {
        self.engine.write(
            WriteJob(
                requester: job.requester,
                records: 1,
                bytes: 0,
                deadlineMilliseconds: .max,
                origin: nil,
                makesRoom: false,
                takesTurn: false
            ) { (transaction) throws(StorageFailure) in
                try MirrorOutbox(transaction).applyAll()
                return .finished { self.engine.read(job) }
            } fail: { failure in
                switch failure {
                case .overloaded: job.fail(failure)
                case .storage(.conflict) where retriesLeft > 0,
                    .storage(.outcomeUnknown) where retriesLeft > 0:
                    self.apply(before: job, retriesLeft: retriesLeft - 1)
                case .shuttingDown, .deadlinePassed, .diskFull, .storage: self.engine.read(job)
                }
            }
        )
    }
}
