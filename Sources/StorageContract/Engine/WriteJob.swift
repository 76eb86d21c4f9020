import RecordModel

/// A part of a transaction: an engine executes a job together with others and commits them as one.
///
/// An engine may execute a job more than once before it calls back, each time from its beginning and
/// in a transaction that has nothing of the earlier times. It calls back exactly once: `fail`, or the
/// `reply` of the last execution.
///
/// A class, as a job passes through the hands of many on its way: a copy is a reference.
package final class WriteJob: Sendable {
    /// The progress of an execution.
    package enum Progress: Sendable {
        /// Everything; the engine calls `reply` when the commit is durable.
        case finished(reply: @Sendable () -> Void)
        /// A part. After the commit the engine executes `rest` in a later transaction, and the jobs
        /// that wait of other users before it.
        ///
        /// If it is not known whether the part was committed, the engine fails this job instead.
        case unfinished(rest: WriteJob)
    }

    /// When an engine executes a job.
    package enum Schedule: Hashable, Sendable {
        /// In the turn of the requester, if there is room for it to wait, together with others.
        case inTurn
        /// In a transaction of its own, about this number of milliseconds from now or later; when
        /// the engine shuts down it does not wait.
        ///
        /// This is the store's own work. No engine rejects it for lack of room, as there are few
        /// such jobs at a time, or as many as connections begin to listen.
        case aside(afterMilliseconds: Int64)
    }

    package let schedule: Schedule
    /// The user that the job belongs to: engines serve users in turns.
    ///
    /// `nil` for a job of the store itself, which has passed all bounds: it is never rejected for
    /// lack of room.
    package let requester: Requester?
    /// Records that the job is about; at least one, so that a queue of empty jobs ends somewhere.
    package let records: Int
    /// The encoded size of the request.
    package let bytes: Int
    /// Milliseconds since 1970 after which the job fails instead of being executed.
    package let deadlineMilliseconds: Int64
    /// The connection that asks, which is not notified of its own changes; `nil` if there is none.
    package let origin: ChangeOrigin?
    /// Whether the job deletes only, or ends a request that has its room already: then an engine
    /// may execute it on a full disk.
    package let makesRoom: Bool
    /// Whether the job takes a turn by itself, whatever its size says.
    package let takesTurn: Bool
    /// For engines that prefetch; `nil` if nothing is known.
    package let prefetch: Prefetch?
    /// Executes the job.
    ///
    /// - Throws: A failure that `StorageFailure` describes, of the engine's own making: the engine
    ///   rolls back the writes of the job and passes the failure to `fail`.
    package let execute: @Sendable (any WriteTransaction) throws(StorageFailure) -> Progress
    /// Says that nothing of the job was committed, except after `outcomeUnknown`.
    package let fail: @Sendable (JobFailure) -> Void

    package init(
        schedule: Schedule = .inTurn,
        requester: Requester?,
        records: Int,
        bytes: Int,
        deadlineMilliseconds: Int64,
        origin: ChangeOrigin?,
        makesRoom: Bool,
        takesTurn: Bool,
        prefetch: Prefetch? = nil,
        execute: @escaping @Sendable (any WriteTransaction) throws(StorageFailure) -> Progress,
        fail: @escaping @Sendable (JobFailure) -> Void
    ) {
        self.schedule = schedule
        self.requester = requester
        self.records = records
        self.bytes = bytes
        self.deadlineMilliseconds = deadlineMilliseconds
        self.origin = origin
        self.makesRoom = makesRoom
        self.takesTurn = takesTurn
        self.prefetch = prefetch
        self.execute = execute
        self.fail = fail
    }
}

extension WriteJob {
    /// A job of the store itself.
    package convenience init(
        asideAfterMilliseconds milliseconds: Int64,
        execute: @escaping @Sendable (any WriteTransaction) throws(StorageFailure) -> Progress,
        fail: @escaping @Sendable (JobFailure) -> Void
    ) {
        self.init(
            schedule: .aside(afterMilliseconds: milliseconds),
            requester: nil,
            records: 1,
            bytes: 0,
            deadlineMilliseconds: .max,
            origin: nil,
            makesRoom: true,
            takesTurn: true,
            execute: execute,
            fail: fail
        )
    }
}

/// Why an engine did not execute a job, or could not commit it.
package enum JobFailure: Error, Hashable, Sendable {
    /// The engine has no room for more jobs of the user; it should have some after the time.
    case overloaded(retryAfterMilliseconds: UInt32)
    case shuttingDown
    case deadlinePassed
    /// The disk has no room for the writes of the job.
    case diskFull
    case storage(StorageFailure)
}

extension StoreError {
    /// The error that the user gets for a failure.
    ///
    /// A retry with the same request ID executes a change once.
    package init(_ failure: JobFailure) {
        self =
            switch failure {
            case .overloaded(let milliseconds): .overloaded(retryAfterMilliseconds: milliseconds)
            case .shuttingDown: .shuttingDown
            case .deadlinePassed: .deadlinePassed
            // The operator has to free space.
            case .diskFull: .diskFull(retryAfterMilliseconds: 5_000)
            case .storage(.unexpected): .internalFault
            case .storage(.exceeds(let bound, _)): .tooMuchWork(bound)
            case .storage(.unavailable), .storage(.conflict), .storage(.outcomeUnknown):
                .storageUnavailable(retryAfterMilliseconds: 1_000)
            }
    }
}
