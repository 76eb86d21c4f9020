import Foundation
import RecordModel
import RecordStore

/// What waits for the router, in the order of commits, bounded in changes and bytes.
///
/// Beyond a bound the details of transactions are dropped: what stays is which databases changed, and what became of subscriptions. Nobody
/// who adds ever waits.
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

    private struct State {
        var events: [Event] = []
        var changes = 0
        var bytes = 0
        var isClosed = false
        var routerWaits = false
    }

    private let condition = NSCondition()
    private var state = State()
    private let changesMax: Int
    private let bytesMax: Int

    init(changesMax: Int = 65_536, bytesMax: Int = 32 * 1_024 * 1_024) {
        self.changesMax = changesMax
        self.bytesMax = bytesMax
    }

    /// An empty queue takes any.
    ///
    /// `false`: the details were dropped.
    @discardableResult
    func add(_ committed: CommittedChanges) -> Bool {
        let changes = committed.changes.count + committed.incomplete.count
        let bytes = committed.changes.reduce(0) { $0 + $1.heldBytes }
        return self.condition.withLock {
            guard !self.state.isClosed else { return true }
            let hasRoom =
                self.state.changes == 0
                || self.state.changes + changes <= self.changesMax
                    && self.state.bytes + bytes <= self.bytesMax
            if hasRoom {
                self.state.changes += changes
                self.state.bytes += bytes
                self.append(.committed(committed))
            } else {
                self.skip(committed)
            }
            return hasRoom
        }
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
            self.state.changes = 0
            self.state.bytes = 0
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
