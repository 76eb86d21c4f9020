package import RecordModel

/// The number of one database: a row, and the first part of every key.
package struct DatabaseID: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// The user or service that asks, and the database that is asked.
package struct Requester: Hashable, Sendable {
    package var database: DatabaseID
    package var scope: DatabaseScope
    package var environment: EnvironmentID
    /// The user; `nil` if the requester is not signed in.
    package var userRecordName: String?
    /// What the request is known by when the same client makes it again, with whatever ID; 0: nothing.
    package var mark: UInt64
    /// Where a request of somebody who is not signed in comes from: who pays for it.
    package var network: String
    /// Milliseconds since 1970 after which a read that waits is refused instead of executed.
    package var deadlineMilliseconds: Int64
    /// The installation of the user that asks for a change; `nil` if it did not say.
    package var installation: InstallationID?
    /// Whether an operator asks, who reads every record of the public database, and writes none.
    ///
    /// Only a command on the store's files sets it.
    package var isOperator = false

    package init(
        database: DatabaseID,
        scope: DatabaseScope,
        environment: EnvironmentID,
        userRecordName: String?,
        mark: UInt64 = 0,
        network: String = "",
        deadlineMilliseconds: Int64 = .max
    ) {
        self.database = database
        self.scope = scope
        self.environment = environment
        self.userRecordName = userRecordName
        self.mark = mark
        self.network = network
        self.deadlineMilliseconds = deadlineMilliseconds
    }
}

extension Requester {
    /// The database whose commits a result may show; `nil` if it may show those of several.
    package var databaseShown: DatabaseID? { self.scope == .shared ? nil : self.database }
}

/// The number of one environment of one container: what a schema belongs to.
package struct EnvironmentID: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A change that waits for the writer.
package struct WriteRequest: Sendable {
    package enum Operation: Sendable {
        case modifyRecords(ModifyRecords)
        case modifyZones(ModifyZones)
        case modifySubscriptions(ModifySubscriptions)
        case acceptShares(AcceptShares)
        case requestShareAccess(RequestShareAccess)
    }

    package var requester: Requester
    package var requestID: RequestID
    package var operation: Operation
    /// Encoded size: what the request counts for in the writer's queue.
    package var bytes: Int
    /// Milliseconds since 1970 after which the request is refused instead of executed.
    package var deadlineMilliseconds: Int64
    /// The connection that asks, which is not notified of what it changes itself; `nil` if there is none.
    package var origin: ChangeOrigin?
    /// Records that an operator puts back; `nil` for a request of a client.
    ///
    /// Only a command on the store's files sets it.
    package var restored: UndoneRecords?

    package init(
        requester: Requester,
        requestID: RequestID,
        operation: Operation,
        bytes: Int,
        deadlineMilliseconds: Int64,
        origin: ChangeOrigin? = nil
    ) {
        self.requester = requester
        self.requestID = requestID
        self.operation = operation
        self.bytes = bytes
        self.deadlineMilliseconds = deadlineMilliseconds
        self.origin = origin
    }
}

/// The outcome of one item of a write, in the order of the request's items.
package enum WriteOutcome: Hashable, Sendable {
    /// The record's change has the position; its change tag is made from it.
    case recordSaved(position: Int64, system: SystemFields)
    indirect case zoneSaved(Zone)
    indirect case subscriptionSaved(Subscription)
    case deleted
    /// With the share as who has joined sees it.
    indirect case shareAccepted(Record)
    case done
    indirect case failed(StoreError)
}

/// The outcome of one item of a read.
package enum ReadOutcome: Hashable, Sendable {
    case record(Record)
    case zone(Zone)
    indirect case shareMetadata(ShareMetadata)
    /// Somebody who can be invited.
    case identity(UserIdentity)
    indirect case explanation(RecordExplanation)
    case failed(StoreError)
}

/// Where records live.
///
/// The only protocol of the store with several production conformers: whatever a database brings that knows
/// transactions, the rules above it (`SaveRules`, `Access`, `Schema`) are the same.
///
/// Replies come on a thread of the engine, or on the caller's before the call returns. Replies to
/// different calls may come in any order. Every reply comes exactly once.
package protocol StorageEngine: Sendable {
    /// Whether each question to the storage is a round trip: the engine prefetches the rows that jobs
    /// name, and reads searches that wait in one snapshot.
    var prefetches: Bool { get }

    /// Executes a job in a transaction, together with others, and calls back when that is durable.
    ///
    /// - Order: changes of one database take ascending positions in the order of the transactions that
    ///   commit them.
    /// - Durability: `reply` is called after the commit is on disk.
    func write(_ job: WriteJob)

    /// Executes a read in one snapshot, which has every write that was acknowledged before the call.
    ///
    /// - Durability: The job's reply comes when everything that the snapshot may have shown is on disk.
    func read(_ job: ReadJob)

    /// Reads declared tables, all in one snapshot, and returns what the function returns.
    ///
    /// Blocks the caller, and may make it wait for other calls of this function. A commit of any process
    /// that was acknowledged before the call is seen.
    ///
    /// - Throws: A `StorageFailure`, or what the function throws.
    func readTables<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value

    /// Does rare work in a transaction of its own, and returns what the function returned in it once the
    /// transaction is durable.
    ///
    /// Blocks the caller. The function may be called more than once, each time in a transaction that
    /// has nothing of the earlier times.
    ///
    /// - Throws: A `StorageFailure`, or what the function throws: then nothing happened.
    func administer<Value: Sendable>(
        _ work: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) throws -> Value

    /// Names who is told of commits from now on; to be called once.
    func report(to observer: any CommitObserver)

    /// Whether changes are written at this moment, as far as the engine has tried.
    var condition: StorageCondition { get }

    /// Figures for metrics and for `tidemark-load`.
    var statistics: EngineStatistics { get }

    /// Lets the writer finish what it admitted, refuses the rest with `shuttingDown`, closes the files.
    func shutdown() async
}

extension StorageEngine {
    package var prefetches: Bool { false }
}

/// Whether a store writes what it is asked to.
package enum StorageCondition: Hashable, Sendable {
    case works
    /// There is no room: at most what makes room is executed.
    case full
    /// The last change was refused for another reason, with the engine's own number of it.
    case fails(code: Int32)
}

/// Counters since the start of the engine.
package struct EngineStatistics: Hashable, Sendable {
    package var commits: UInt64 = 0
    package var requestsCommitted: UInt64 = 0
    package var recordsWritten: UInt64 = 0
    package var requestsReplayed: UInt64 = 0
    package var requestsRefused: UInt64 = 0
    /// How long the disk took to make commits durable.
    package var logSyncs = DurationCounts()
    /// Sizes of files now.
    package var databaseBytes: Int64 = 0
    package var databaseLogBytes: Int64 = 0
    /// What the reserve for a full disk lacks.
    package var reserveMissingBytes: Int64 = 0
    /// Settings of a database that are off, and without which a crash loses what was committed.
    package var unsafeSettings = 0

    package init() {}
}
