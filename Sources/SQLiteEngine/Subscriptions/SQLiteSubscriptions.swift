import RecordModel
import RecordStore
import Synchronization

/// Subscriptions in their tables, and what the writer tells listeners.
final class SQLiteSubscriptions: SubscriptionStore {
    private let writer: WriteQueue
    private let watch: WatchedDatabases
    private let configuration: SQLiteEngineConfiguration
    private let report: @Sendable (EngineEvent) -> Void
    /// For short reads of who delivers, which wait for each other.
    private let access: Mutex<ReadConnection>

    init(
        writer: WriteQueue,
        watch: WatchedDatabases,
        access: sending ReadConnection,
        configuration: SQLiteEngineConfiguration,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.writer = writer
        self.watch = watch
        self.access = Mutex(access)
        self.configuration = configuration
        self.report = report
    }

    func report(to observer: @escaping @Sendable (CommittedChanges) -> Void) {
        self.watch.setObserver(observer)
    }

    func startWatching(
        _ listener: ListenerIdentity,
        reply: @escaping @Sendable (Result<ListeningStart, StoreError>) -> Void
    ) {
        let start = Start()
        let watch = self.watch
        let job = WriteQueue.Administration { transaction in
            let subscriptions = try transaction.subscriptions(of: listener)
            watch.add(listener)
            start.subscriptions.withLock { $0 = subscriptions }
        } reply: { error in
            let subscriptions = start.subscriptions.withLock { $0 }
            if error == nil, let subscriptions {
                return reply(.success(ListeningStart(subscriptions: subscriptions)))
            }
            if subscriptions != nil { watch.remove(listener) }
            let failure = error as? StorageFailure ?? .unexpected(code: 0)
            reply(.failure(SQLiteEngine.refusal(for: failure, self.report)))
        }
        guard case .admitted = self.writer.add(job) else { return reply(.failure(.shuttingDown)) }
    }

    func stopWatching(_ listener: ListenerIdentity) { self.watch.remove(listener) }

    func acknowledge(_ acknowledgements: [Acknowledgement], by listener: ListenerIdentity) {
        self.watch.cursors.add(acknowledgements, by: listener)
    }

    func expire(_ subscription: SubscriptionKey) {
        guard self.watch.expire(subscription) else { return }
        let watch = self.watch
        let report = self.report
        let job = WriteQueue.Administration { transaction in
            try transaction.expire(watch.takeExpired())
        } reply: { error in
            // Nothing else is lost with it: it fires once more at the next change.
            if let failure = error as? StorageFailure { _ = SQLiteEngine.refusal(for: failure, report) }
        }
        _ = self.writer.add(job)
    }

    func mayRead(recordType: String, createdBy creator: String, by requester: Requester) -> Bool {
        self.access.withLock { connection in
            do throws(StorageFailure) {
                return try connection.snapshot { () throws(StorageFailure) in
                    try connection.access(toType: recordType, for: requester)
                        .mayRead(recordCreatedBy: creator)
                }
            } catch {
                _ = SQLiteEngine.refusal(for: error, self.report)
                return false
            }
        }
    }

    /// What the writer read, for the reply that comes behind the commit.
    private final class Start: Sendable {
        let subscriptions = Mutex<[WatchedSubscription]?>(nil)
    }
}

extension ReadConnection {
    func subscriptions(
        _ ids: [String],
        of owner: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> [StoredSubscription?] {
        var found: [StoredSubscription?] = []
        found.reserveCapacity(ids.count)
        let statement = self.subscriptionByID
        for id in ids {
            statement.bind(1, database.rawValue)
            statement.bind(2, owner)
            statement.bind(3, id)
            defer { statement.reset() }
            found.append(try statement.step() ? statement.subscription(of: owner, in: database) : nil)
        }
        return found
    }

    func subscriptions(
        of owner: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> [StoredSubscription] {
        let statement = self.subscriptionsByID
        statement.bind(1, database.rawValue)
        statement.bind(2, owner)
        var found: [StoredSubscription] = []
        while try statement.step() { found.append(statement.subscription(of: owner, in: database)) }
        return found
    }
}
