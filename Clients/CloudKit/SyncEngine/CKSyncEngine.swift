private import Synchronization

/// Keeps an app's records and those of a private or shared database the same.
///
/// The app says what changed on its side (`state`), gives records when they are to be sent, and is told what changed on the
/// server: the engine fetches, sends, waits, subscribes and tries again. An app makes one engine for a database, early, with the state that it
/// was last given (`Event.stateUpdate`).
///
/// - Durability: No pending change is lost. It leaves `state` when it is sent, and what it left by is a state that the delegate was told. It is
///   gone from later ones when the server has it, or when the delegate was told why it can't, and after the delegate has handled the event that
///   says so. Whoever keeps the states, and begins again with the last, hears some events twice and misses none.
/// - Lifetime: The engine does not hold its delegate. With the engine ends what it does.
///
/// A public database has no engine: making one stops the program.
public final class CKSyncEngine: Sendable, CustomStringConvertible {
    /// The database.
    public let database: CKDatabase
    /// What the engine knows, and what it is to send.
    public let state: State

    private let inbox: SyncInbox
    private let work: Mutex<Task<Void, Never>?>
    private let accountWatch: AccountWatch?

    /// Makes an engine, which begins at once when it syncs automatically.
    ///
    /// - Precondition: The database is a private or a shared one.
    public convenience init(_ configuration: Configuration) {
        self.init(configuration, pace: .usual)
    }

    /// As `init(_:)`, with other pauses after errors for which no server names a time: for tests.
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

    /// Fetches what changed on the server, now.
    ///
    /// Returns when the delegate has handled all of it. Cancelling the task cancels the fetch.
    ///
    /// - Parameter options: Of which zones, and which first.
    /// - Throws: `CKError`: why not everything was fetched; `invalidArguments` when the delegate calls it while it handles a call of this engine;
    ///   `notAuthenticated` when nobody is signed in. What concerns one zone only is told with its `didFetchRecordZoneChanges`.
    public func fetchChanges(_ options: FetchChangesOptions = .init()) async throws {
        try DelegateCall.check(self)
        try await self.inbox.perform(.fetch(options))
    }

    /// Sends what is pending, now, until nothing is, what the delegate adds meanwhile included.
    ///
    /// Ends with the first batch of which an item fails, when the delegate has handled that. What it adds again then is sent by the next call,
    /// or by an engine that syncs automatically. Cancelling the task cancels the send.
    ///
    /// - Parameter options: Which changes.
    /// - Throws: `CKError`: `partialFailure` with the errors of the items that failed; why a request as a whole failed; `invalidArguments` when the
    ///   delegate calls it while it handles a call of this engine; `notAuthenticated` when nobody is signed in.
    public func sendChanges(_ options: SendChangesOptions = .init()) async throws {
        try DelegateCall.check(self)
        try await self.inbox.perform(.send(options))
    }

    /// Cancels what is being fetched or sent, and what was planned or asked for.
    ///
    /// Returns at once: what a server has received may still take effect, and the events that end what began still come. Nothing that is pending
    /// is lost. An engine that syncs automatically goes on with the next change of its state or the next notification.
    public func cancelOperations() async { self.inbox.cancelAll() }

    /// The engine for people to read.
    public var description: String {
        let snapshot = self.state.snapshot
        let scope = self.database.databaseScope == .private ? "private" : "shared"
        return "<CKSyncEngine: \(scope) database of \(self.database.access.identifier ?? "no container"), "
            + "pending: \(snapshot.zoneChanges.changes.count) zones, \(snapshot.records.count) records>"
    }
}
