private import Synchronization

/// Keeps an app's records and those of a private or shared database in sync.
///
/// The app adds its changes to `state`, supplies records when they are sent, and handles events
/// with the server's changes. The engine fetches, sends, waits, subscribes and retries. Make one
/// engine per database, early, with the last state that the app stored (`Event.stateUpdate`).
///
/// ```swift
/// let engine = CKSyncEngine(
///     CKSyncEngine.Configuration(
///         database: container.privateCloudDatabase,
///         stateSerialization: storedState,
///         delegate: delegate
///     )
/// )
/// engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "Notes"))])
/// engine.state.add(pendingRecordZoneChanges: [.saveRecord(noteID)])
/// ```
///
/// The engine retries temporary errors. The delegate handles the others in `sentRecordZoneChanges`:
///
/// | error of a record | what the app does |
/// |---|---|
/// | `serverRecordChanged` | merges into `serverRecord`, keeps that, adds the change again |
/// | `zoneNotFound` | adds a `saveZone` and the change again, or drops the zone |
/// | `unknownItem` | drops its change tag, and adds the change again as a new record |
/// | `batchRequestFailed` | adds the change again, with that of the item at fault |
/// | `invalidArguments`, `permissionFailure`, `quotaExceeded` | informs the user |
///
/// - Durability: No pending change is lost. When it is sent it leaves `state`, but stays in the
///   stored state. It leaves that after the server has saved it, or after the delegate has handled
///   the event with its error. An app that stores each state and starts again with the last one
///   gets some events twice and misses none.
/// - Lifetime: The engine does not hold its delegate. Its work ends when it is released.
///
/// A public database has no engine: making one ends the program.
///
/// - Source: Apple's `CKSyncEngine`.
public final class CKSyncEngine: Sendable, CustomStringConvertible {
    /// The database.
    public let database: CKDatabase
    /// The progress of the engine, and its pending changes.
    public let state: State

    private let inbox: SyncInbox
    private let work: Mutex<Task<Void, Never>?>
    private let accountWatch: AccountWatch?

    /// Makes an engine, which starts at once if it syncs automatically.
    ///
    /// - Parameter configuration: The database, the state and the delegate.
    /// - Precondition: The database is private or shared.
    public convenience init(_ configuration: Configuration) {
        self.init(configuration, pace: .usual)
    }

    /// Does the same as `init(_:)` with other pauses after errors without a retry time, for tests.
    package convenience init(_ configuration: Configuration, pausing: ClosedRange<Duration>) {
        self.init(configuration, pace: .init(min: pausing.lowerBound, max: pausing.upperBound))
    }

    init(_ configuration: Configuration, pace: RetryPause.Pace) {
        precondition(
            configuration.database.databaseScope != .public,
            "CKSyncEngine can't sync a public database, which has neither zones nor subscriptions of its own: "
                + "use a private or a shared one"
        )
        let inbox = SyncInbox()
        self.inbox = inbox
        self.database = configuration.database
        self.state = State(configuration.stateSerialization?.content ?? SyncState()) {
            inbox.post { $0.stateChanged = true }
        }
        self.work = Mutex(nil)
        self.accountWatch =
            configuration.automaticallySync
            ? AccountWatch { inbox.post { $0.accountMayHaveChanged = true } } : nil
        let worker = SyncWorker(
            state: self.state,
            inbox: inbox,
            server: SyncServer(
                database: configuration.database,
                subscriptionID: configuration.subscriptionID
            ),
            machine: SyncMachine(isAutomatic: configuration.automaticallySync, pace: pace),
            engine: { [weak self] in self },
            delegate: { [weak delegate = configuration.delegate] in delegate }
        )
        let isAutomatic = configuration.automaticallySync
        self.work.withLock { work in
            work = Task { await worker.run(isListening: isAutomatic) }
        }
    }

    deinit {
        self.work.withLock { $0 }?.cancel()
        self.inbox.close()
    }

    /// Fetches the server's changes now.
    ///
    /// It returns when the delegate has handled all of them. Cancelling the task cancels the fetch.
    ///
    /// - Parameter options: Which zones to fetch, and which first.
    /// - Throws: `CKError` if something could not be fetched: `invalidArguments` if the delegate
    ///   calls it while it handles a call of this engine (use a task); `notAuthenticated` if no
    ///   user is signed in. The error of one zone is in its `didFetchRecordZoneChanges`.
    public func fetchChanges(_ options: FetchChangesOptions = .init()) async throws {
        try DelegateCall.check(self)
        try await self.inbox.perform(.fetch(options))
    }

    /// Sends the pending changes now, including those that the delegate adds meanwhile.
    ///
    /// It ends with the first batch in which an item fails, after the delegate has handled that.
    /// The next call sends what the delegate adds again, and so does an engine that syncs
    /// automatically. Cancelling the task cancels the send.
    ///
    /// - Parameter options: Which changes to send.
    /// - Throws: `CKError`: `partialFailure` with the errors of the failed items; the error of a
    ///   request that failed as a whole; `invalidArguments` if the delegate calls it while it
    ///   handles a call of this engine (use a task); `notAuthenticated` if no user is signed in.
    public func sendChanges(_ options: SendChangesOptions = .init()) async throws {
        try DelegateCall.check(self)
        try await self.inbox.perform(.send(options))
    }

    /// Cancels the current fetch or send, and those that were requested or planned.
    ///
    /// It returns at once. A change that the server has received may still take effect, and the
    /// events at the end of the fetch or send still come. No pending change is lost. An engine that
    /// syncs automatically continues at the next change of its state or the next notification.
    public func cancelOperations() async { self.inbox.cancelAll() }

    /// A description of the engine for people.
    public var description: String {
        let snapshot = self.state.snapshot
        let scope = self.database.databaseScope == .private ? "private" : "shared"
        return "<CKSyncEngine: \(scope) database of \(self.database.access.identifier ?? "no container"), "
            + "pending: \(snapshot.zoneChanges.changes.count) zones, \(snapshot.records.count) records>"
    }
}
