import Admission
import EngineThreads
import RecordModel
import RecordStore
import StorageContract

/// The queue from other threads to the router, in order, bounded in changes and bytes.
///
/// Databases share the bounds: none may queue more than is left for the others. Beyond that, only
/// its own details are dropped, until the router has caught up: the queue keeps that it changed,
/// and the latest state of its subscriptions. Adding never blocks.
///
/// SAFETY: `state` is read and written only while the condition is locked.
final class RouterQueue: @unchecked Sendable {
    enum Event: Sendable {
        /// `routed` follows when it is done.
        case committed(DatabaseCommit)
        /// Replaces transactions after their details were dropped; `takeSkipped` returns the rest
        /// of them.
        case skipped(DatabaseID)
        /// Whether users may read what changed in a database; `nil` if the engine could not tell.
        case answered(DatabaseID, [Bool]?)
        /// A connection wants to listen; `started` follows.
        case asked(UInt64)
        case started(NotificationRouting.Listener, Result<ListeningStart, StoreError>)
        case stopped(UInt64)
    }

    /// Timeout of the router's wait for an event.
    enum Wait {
        case none
        /// A time of `MonotonicTime`.
        case until(Int64)
        case endless
    }

    private struct State {
        var events: [Event] = []
        var all = RouterAmount()
        var byDatabase: [DatabaseID: RouterAmount] = [:]
        var skipped: [DatabaseID: SkippedChanges] = [:]
        var isClosed = false
        var routerWaits = false
    }

    private let condition = ThreadCondition()
    private var state = State()
    private let changes: SharedBound
    private let bytes: SharedBound

    init(changesMax: Int = Bounds.routerChangesMax, bytesMax: Int = Bounds.routerBytesMax) {
        self.changes = SharedBound(capacity: changesMax)
        self.bytes = SharedBound(capacity: bytesMax)
    }

    /// Number of changes that are not routed.
    var waiting: Int { self.condition.withLock { self.state.all.changes } }

    /// Adds a transaction; an empty queue accepts any size.
    ///
    /// - Returns: `false` if details were dropped.
    @discardableResult
    func add(_ committed: CommittedChanges) -> Bool {
        let commits = committed.byDatabase()
        return self.condition.withLock {
            guard !self.state.isClosed else { return true }
            let isEmpty = self.state.all.changes == 0
            var isComplete = true
            for commit in commits {
                if self.state.skipped[commit.database] == nil, isEmpty || self.hasRoom(for: commit) {
                    self.state.all.add(commit.amount)
                    self.state.byDatabase[commit.database, default: RouterAmount()].add(commit.amount)
                    self.append(.committed(commit))
                } else {
                    self.skip(commit)
                    isComplete = false
                }
            }
            return isComplete
        }
    }

    private func hasRoom(for commit: DatabaseCommit) -> Bool {
        let own = self.state.byDatabase[commit.database] ?? RouterAmount()
        let all = self.state.all
        return self.changes.admits(commit.amount.changes, own: own.changes, all: all.changes)
            && self.bytes.admits(commit.amount.bytes, own: own.bytes, all: all.bytes)
    }

    private func skip(_ commit: DatabaseCommit) {
        if self.state.skipped[commit.database] == nil { self.append(.skipped(commit.database)) }
        self.state.skipped[commit.database, default: SkippedChanges()].add(commit)
    }

    /// Adds the start or end of a listener: these are bounded by the connections, and always fit.
    ///
    /// - Returns: `false` if the queue is closed.
    @discardableResult
    func add(_ event: Event) -> Bool {
        self.condition.withLock {
            guard !self.state.isClosed else { return false }
            self.append(event)
            return true
        }
    }

    /// Returns all queued events, possibly none.
    ///
    /// - Returns: `nil` if the queue is closed.
    func take(_ waitMax: Wait = .none) -> [Event]? {
        self.condition.withLock {
            self.wait(waitMax)
            guard !self.state.isClosed else { return nil }
            let events = self.state.events
            self.state.events = []
            return events
        }
    }

    private func wait(_ waitMax: Wait) {
        self.state.routerWaits = true
        defer { self.state.routerWaits = false }
        while self.state.events.isEmpty, !self.state.isClosed {
            switch waitMax {
            case .none: return
            case .until(let end): guard self.condition.wait(until: end) else { return }
            case .endless: self.condition.wait()
            }
        }
    }

    /// A transaction was routed.
    func routed(_ commit: DatabaseCommit) {
        self.condition.withLock {
            self.state.all.remove(commit.amount)
            guard var own = self.state.byDatabase[commit.database] else { return }
            own.remove(commit.amount)
            self.state.byDatabase[commit.database] = own.changes > 0 ? own : nil
        }
    }

    /// Takes the rest of dropped transactions of a database, and keeps its details again.
    func takeSkipped(of database: DatabaseID) -> SkippedChanges? {
        self.condition.withLock { self.state.skipped.removeValue(forKey: database) }
    }

    /// Rejects further events, and drops queued ones.
    func close() {
        self.condition.withLock {
            self.state.isClosed = true
            self.state.events = []
            self.condition.signal()
        }
    }

    var isClosed: Bool { self.condition.withLock { self.state.isClosed } }

    private func append(_ event: Event) {
        self.state.events.append(event)
        if self.state.routerWaits { self.condition.signal() }
    }
}

/// The amount that is queued for the router, of a database or of all.
struct RouterAmount: Hashable, Sendable {
    var changes = 0
    var bytes = 0

    mutating func add(_ other: RouterAmount) {
        self.changes += other.changes
        self.bytes += other.bytes
    }

    mutating func remove(_ other: RouterAmount) {
        self.changes -= other.changes
        self.bytes -= other.bytes
    }
}

/// The changes of a transaction in one database.
struct DatabaseCommit: Sendable {
    let database: DatabaseID
    /// Changes of this database only.
    let committed: CommittedChanges
    let amount: RouterAmount

    fileprivate init(of database: DatabaseID, _ committed: CommittedChanges) {
        self.database = database
        self.committed = committed
        // Changes without details are queued as well.
        var amount = RouterAmount(
            changes: committed.changes.count + committed.incomplete.count + committed.overwritten.count
        )
        for change in committed.changes { amount.bytes += change.heldBytes }
        self.amount = amount
    }
}

/// The rest of a database's transactions without details: its size is bounded by the number of
/// subscriptions.
struct SkippedChanges: Sendable {
    enum SubscriptionChange: Hashable, Sendable {
        case saved(WatchedSubscription)
        case deleted(SubscriptionKey)
    }

    private struct Name: Hashable {
        var owner: String
        var id: String

        init(_ key: SubscriptionKey) {
            self.owner = key.owner
            self.id = key.id
        }
    }

    /// The last position at which anything but subscriptions changed; `nil` if nothing did.
    private(set) var position: Int64?
    /// Whether subscriptions outside the list may have changed.
    private(set) var isPart = false
    /// The last change of each subscription.
    private var byName: [Name: (EnvironmentID, SubscriptionChange)] = [:]

    var subscriptions: [(environment: EnvironmentID, change: SubscriptionChange)] {
        self.byName.values.map { ($0.0, $0.1) }
    }

    mutating func add(_ commit: DatabaseCommit) {
        for change in commit.committed.changes { self.add(change) }
        for reported in [commit.committed.incomplete, commit.committed.overwritten] {
            guard let position = reported[commit.database] else { continue }
            self.position = position
            self.isPart = true
        }
    }

    private mutating func add(_ change: CommittedChange) {
        switch change.kind {
        case .record, .zoneCreated, .zoneChanged, .zoneDeleted:
            self.position = change.position
        case .subscriptionSaved(let watched):
            self.byName[Name(watched.key)] = (change.environment, .saved(watched))
        case .subscriptionDeleted(let key):
            self.byName[Name(key)] = (change.environment, .deleted(key))
        }
    }
}

extension CommittedChanges {
    /// One value for each database, in the order of their first changes.
    func byDatabase() -> [DatabaseCommit] {
        let reported = self.incomplete.merging(self.overwritten) { max($0, $1) }
        guard let first = self.changes.first?.database ?? reported.keys.first else { return [] }
        if self.changes.allSatisfy({ $0.database == first }), reported.keys.allSatisfy({ $0 == first }) {
            return [DatabaseCommit(of: first, self)]
        }
        var indices: [DatabaseID: Int] = [:]
        var parts: [CommittedChanges] = []
        var databases: [DatabaseID] = []
        func index(of database: DatabaseID) -> Int {
            if let index = indices[database] { return index }
            indices[database] = parts.count
            databases.append(database)
            parts.append(CommittedChanges(committedMilliseconds: self.committedMilliseconds, changes: []))
            return parts.count - 1
        }
        for change in self.changes { parts[index(of: change.database)].changes.append(change) }
        for (database, position) in self.incomplete {
            parts[index(of: database)].incomplete[database] = position
        }
        for (database, position) in self.overwritten {
            parts[index(of: database)].overwritten[database] = position
        }
        return zip(databases, parts).map { DatabaseCommit(of: $0, $1) }
    }
}

extension CommittedChange {
    /// Approximate memory of the change.
    fileprivate var heldBytes: Int {
        switch self.kind {
        case .record(let record):
            512 + (record.before?.body.bytes.count ?? 0) + (record.after?.body.bytes.count ?? 0)
        case .subscriptionSaved: Bounds.subscriptionBytesMax
        case .zoneCreated, .zoneChanged, .zoneDeleted, .subscriptionDeleted: 512
        }
    }
}
