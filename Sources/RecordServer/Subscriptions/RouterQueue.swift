import Foundation
import RecordModel
import RecordStore

/// What waits for the router, in the order of commits, bounded in changes and bytes.
///
/// Databases share the bounds: none may have more waiting than is left for the others. Beyond that the details of its changes are dropped,
/// and of no other's: what stays is that it changed, and what became of its subscriptions. Nobody who adds ever waits.
///
/// SAFETY: `state` is read and written only while the condition is locked.
final class RouterQueue: @unchecked Sendable {
    enum Event: Sendable {
        case committed(CommittedChanges)
        /// In place of transactions whose details were dropped.
        case skipped(SkippedChanges)
        /// A connection wants to listen; `started` follows.
        case asked(UInt64)
        case started(NotificationRouting.Listener, Result<ListeningStart, StoreError>)
        case stopped(UInt64)
    }

    /// What waits of a database, or of all.
    private struct Amount {
        var changes = 0
        var bytes = 0

        mutating func add(_ other: Amount) {
            self.changes += other.changes
            self.bytes += other.bytes
        }
    }

    private struct State {
        var events: [Event] = []
        var all = Amount()
        var byDatabase: [DatabaseID: Amount] = [:]
        var isClosed = false
        var routerWaits = false
    }

    private let condition = NSCondition()
    private var state = State()
    private let changes: SharedBound
    private let bytes: SharedBound

    init(changesMax: Int = Bounds.routerChangesMax, bytesMax: Int = Bounds.routerBytesMax) {
        self.changes = SharedBound(capacity: changesMax)
        self.bytes = SharedBound(capacity: bytesMax)
    }

    /// Changes that wait.
    var waiting: Int { self.condition.withLock { self.state.all.changes } }

    /// An empty queue takes any.
    ///
    /// `false`: details were dropped.
    @discardableResult
    func add(_ committed: CommittedChanges) -> Bool {
        var amounts: [DatabaseID: Amount] = [:]
        for change in committed.changes {
            amounts[change.database, default: Amount()].add(Amount(changes: 1, bytes: change.heldBytes))
        }
        for database in committed.incomplete.keys {
            amounts[database, default: Amount()].add(Amount(changes: 1, bytes: 0))
        }
        return self.condition.withLock {
            guard !self.state.isClosed else { return true }
            var dropped: Set<DatabaseID> = []
            let isEmpty = self.state.all.changes == 0
            for (database, amount) in amounts {
                if isEmpty || self.hasRoom(for: amount, of: database) {
                    self.state.all.add(amount)
                    self.state.byDatabase[database, default: Amount()].add(amount)
                } else {
                    dropped.insert(database)
                }
            }
            if dropped.isEmpty {
                self.append(.committed(committed))
            } else {
                self.skip(committed.keeping { dropped.contains($0) })
                let rest = committed.keeping { !dropped.contains($0) }
                if dropped.count < amounts.count { self.append(.committed(rest)) }
            }
            return dropped.isEmpty
        }
    }

    private func hasRoom(for amount: Amount, of database: DatabaseID) -> Bool {
        let own = self.state.byDatabase[database] ?? Amount()
        return self.changes.admits(amount.changes, own: own.changes, all: self.state.all.changes)
            && self.bytes.admits(amount.bytes, own: own.bytes, all: self.state.all.bytes)
    }

    /// Beginnings and ends of listeners are as many as connections, and have room.
    ///
    /// `false`: the queue is closed.
    @discardableResult
    func add(_ event: Event) -> Bool {
        self.condition.withLock {
            guard !self.state.isClosed else { return false }
            self.append(event)
            return true
        }
    }

    /// Everything that waits; waits for something, until a time if one is given.
    ///
    /// `nil` when the queue is closed.
    func takeAll(until: Date? = nil) -> [Event]? {
        self.condition.withLock {
            while self.state.events.isEmpty, !self.state.isClosed {
                self.state.routerWaits = true
                defer { self.state.routerWaits = false }
                if let until {
                    guard self.condition.wait(until: until) else { break }
                } else {
                    self.condition.wait()
                }
            }
            guard !self.state.isClosed else { return nil }
            let events = self.state.events
            self.state.events = []
            self.state.all = Amount()
            self.state.byDatabase = [:]
            return events
        }
    }

    /// Takes nothing more, and drops what waits.
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

    private func skip(_ committed: CommittedChanges) {
        var skipped = SkippedChanges()
        if case .skipped(let before)? = self.state.events.last {
            self.state.events.removeLast()
            skipped = before
        }
        skipped.add(committed)
        self.append(.skipped(skipped))
    }
}

/// What is kept of transactions whose details were dropped: as much as there are databases and subscriptions.
struct SkippedChanges: Sendable {
    enum SubscriptionChange: Hashable, Sendable {
        case saved(WatchedSubscription)
        case deleted(SubscriptionKey)
    }

    private struct Name: Hashable {
        var database: DatabaseID
        var owner: String
        var id: String

        init(_ key: SubscriptionKey) {
            self.database = key.database
            self.owner = key.owner
            self.id = key.id
        }
    }

    /// The last position of each.
    private(set) var databases: [DatabaseID: Int64] = [:]
    /// The last change of each subscription.
    private var byName: [Name: (EnvironmentID, SubscriptionChange)] = [:]

    var subscriptions: [(environment: EnvironmentID, change: SubscriptionChange)] {
        self.byName.values.map { ($0.0, $0.1) }
    }

    mutating func add(_ committed: CommittedChanges) {
        for change in committed.changes { self.add(change) }
        for (database, position) in committed.incomplete { self.databases[database] = position }
    }

    private mutating func add(_ change: CommittedChange) {
        switch change.kind {
        case .record, .zoneCreated, .zoneChanged, .zoneDeleted:
            self.databases[change.database] = change.position
        case .subscriptionSaved(let watched):
            self.byName[Name(watched.key)] = (change.environment, .saved(watched))
        case .subscriptionDeleted(let key):
            self.byName[Name(key)] = (change.environment, .deleted(key))
        }
    }
}

extension CommittedChanges {
    /// Those of some databases.
    fileprivate func keeping(_ isKept: (DatabaseID) -> Bool) -> CommittedChanges {
        CommittedChanges(
            committedMilliseconds: self.committedMilliseconds,
            changes: self.changes.filter { isKept($0.database) },
            incomplete: self.incomplete.filter { isKept($0.key) }
        )
    }
}

extension CommittedChange {
    /// About the memory that the change holds.
    fileprivate var heldBytes: Int {
        switch self.kind {
        case .record(let record):
            512 + (record.before?.body.bytes.count ?? 0) + (record.after?.body.bytes.count ?? 0)
        case .subscriptionSaved: Bounds.subscriptionBytesMax
        case .zoneCreated, .zoneChanged, .zoneDeleted, .subscriptionDeleted: 512
        }
    }
}
