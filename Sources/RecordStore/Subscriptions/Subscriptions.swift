import RecordModel
package import StorageContract
import Synchronization

/// Listeners of a store: which databases are watched, what installations have acknowledged, and
/// which subscriptions have fired for the last time.
///
/// Subscriptions are saved and deleted by `Store.write`, as all that changes.
package final class Subscriptions: SubscriptionStore {
    private let engine: any StorageEngine
    private let watched = WatchedDatabases()
    private let cursors = ListenerCursors()
    private let expired = ExpiredSubscriptions()

    init(engine: any StorageEngine) {
        self.engine = engine
        engine.report(to: self.watched)
    }

    // MARK: Listening

    package func report(to observer: @escaping @Sendable (CommittedChanges) -> Void) {
        self.watched.setObserver(observer)
    }

    package func startWatching(
        _ listener: ListenerIdentity,
        reply: @escaping @Sendable (Result<ListeningStart, StoreError>) -> Void
    ) {
        // Before the job: later commits are reported.
        self.watched.add(listener)
        self.start(listener, retriesLeft: RequestExecution.retriesMax, reply: reply)
    }

    private func start(
        _ listener: ListenerIdentity,
        retriesLeft: Int,
        reply: @escaping @Sendable (Result<ListeningStart, StoreError>) -> Void
    ) {
        let job = WriteJob(asideAfterMilliseconds: 0) { transaction throws(StorageFailure) in
            let news = ListenerStart(
                transaction: transaction,
                unwritten: self.cursors.unwritten(of: listener.installation)
            )
            let start = try news.start(of: listener)
            return .finished { reply(.success(start)) }
        } fail: { failure in
            if failure.isTransient, retriesLeft > 0 {
                return self.start(listener, retriesLeft: retriesLeft - 1, reply: reply)
            }
            self.watched.remove(listener)
            reply(.failure(StoreError(failure)))
        }
        self.engine.write(job)
    }

    package func stopWatching(_ listener: ListenerIdentity) { self.watched.remove(listener) }

    package func tail(of database: DatabaseID, after position: Int64) -> ChangeTail? {
        try? self.engine.readTables { try ChangeTail(of: database, after: position, in: $0) }
    }

    package func subscriptions(of owners: [String], in database: DatabaseID) -> [WatchedSubscription]? {
        try? self.engine.readTables { rows in
            var watched: [WatchedSubscription] = []
            for owner in owners {
                for stored in try rows.subscriptions(of: owner, in: database) {
                    watched.append(try WatchedSubscription(stored))
                }
            }
            return watched
        }
    }

    package func mayRead(_ questions: [ReadQuestion], reply: @escaping @Sendable ([Bool]?) -> Void) {
        guard var requester = questions.first?.requester else { return reply([]) }
        // Of several users, so it is in the turn of none.
        requester.userRecordName = nil
        let job = ReadJob(requester: requester, effort: .short) { (snapshot, _) throws(StorageFailure) in
            let answers = try snapshot.mayRead(questions)
            return { reply(answers) }
        } fail: { _ in
            reply(nil)
        }
        self.engine.read(job)
    }

    // MARK: Acknowledgements

    package func acknowledge(_ acknowledgements: [Acknowledgement], by listener: ListenerIdentity) {
        guard let pause = self.cursors.add(acknowledgements, by: listener) else { return }
        self.writeCursors(after: pause)
    }

    /// Has the engine write down everything that listeners have acknowledged, before it shuts down.
    func flush() { self.writeCursors(after: .none, max: .max) }

    private func writeCursors(
        after pause: ListenerCursors.Pause,
        max count: Int = ListenerCursors.writtenMax
    ) {
        let cursors = self.cursors
        let number = cursors.newJob()
        let job = WriteJob(asideAfterMilliseconds: pause.milliseconds) {
            transaction throws(StorageFailure) in
            try transaction.write(cursors.take(for: number, max: count))
            return .finished {
                if let pause = cursors.written(by: number) { self.writeCursors(after: pause) }
            }
        } fail: { failure in
            let pause = cursors.failed(number)
            if failure != .shuttingDown { self.writeCursors(after: pause, max: count) }
        }
        self.engine.write(job)
    }

    // MARK: Subscriptions that have fired

    package func expire(_ subscription: SubscriptionKey) { self.expire([subscription]) }

    private func expire(_ subscriptions: Set<SubscriptionKey>) {
        let expired = self.expired
        guard expired.add(subscriptions) else { return }
        let taken = Mutex<Set<SubscriptionKey>>([])
        let job = WriteJob(asideAfterMilliseconds: 0) { transaction throws(StorageFailure) in
            let going = taken.withLock { taken in
                taken = expired.take(with: taken)
                return taken
            }
            try transaction.expire(going)
            return .finished {}
        } fail: { failure in
            // If it fails for good nothing else is lost: it fires once more at the next change.
            guard failure.isTransient else { return expired.abandon() }
            self.expire(expired.take(with: taken.withLock { $0 }))
        }
        self.engine.write(job)
    }
}

extension WatchedSubscription {
    /// A subscription with `hasChanges` false: the stored one does not say whether it has news.
    fileprivate init(_ stored: StoredSubscription) throws(StorageFailure) {
        self.init(
            key: stored.key,
            subscription: try stored.subscription(),
            hasChanges: false,
            position: stored.key.position
        )
    }
}

extension JobFailure {
    /// Whether the same job may succeed at once.
    fileprivate var isTransient: Bool {
        switch self {
        case .storage(.conflict), .storage(.outcomeUnknown): true
        case .overloaded, .shuttingDown, .deadlinePassed, .diskFull, .storage: false
        }
    }
}
