import StorageContract
import Synchronization

/// Acknowledgements of listeners that the rows do not have yet: one position an installation and
/// subscription.
///
/// Written behind, by one transaction a second (`Pause`). `add` says when the first has to be asked
/// for, and `written` and `failed` when the next.
final class ListenerCursors: Sendable {
    struct Key: Hashable {
        let installation: [UInt8]
        let database: DatabaseID
        let owner: String
        let subscription: String
    }

    struct Cursor: Hashable {
        /// The position at which the subscription that the listener knew was saved.
        var savedPosition: Int64
        var position: Int64

        mutating func advance(to other: Cursor) {
            self.savedPosition = max(self.savedPosition, other.savedPosition)
            self.position = max(self.position, other.position)
        }
    }

    /// The maximum time until a transaction writes some of the waiting entries.
    enum Pause: Hashable {
        case none
        case second

        var milliseconds: Int64 { self == .none ? 0 : 1_000 }
    }

    /// Names one job that writes cursors, however often it is executed.
    struct Job: Hashable {
        fileprivate let number: UInt64
    }

    private struct State {
        var waiting: [Key: Cursor] = [:]
        /// Those that a job has taken, until its transaction is durable.
        var taken: [Job: [Key: Cursor]] = [:]
        var jobs: UInt64 = 0
        /// Whether a job is on its way that is followed by another if something waits.
        var isWriting = false
    }

    static let waitingMax = 65_536
    /// The number of waiting entries that are written without a pause.
    static let waitingMany = 4_096
    /// Maximum number of entries that a transaction writes.
    static let writtenMax = 1_000

    private let state = Mutex(State())

    /// Adds the acknowledgements of a listener; `nil` if a pending transaction writes them.
    func add(_ acknowledgements: [Acknowledgement], by listener: ListenerIdentity) -> Pause? {
        self.state.withLock { state in
            for acknowledgement in acknowledgements {
                let subscription = acknowledgement.subscription
                let key = Key(
                    installation: listener.installation,
                    database: subscription.database,
                    owner: subscription.owner,
                    subscription: subscription.id
                )
                let cursor = Cursor(
                    savedPosition: subscription.position,
                    position: acknowledgement.position
                )
                guard state.waiting[key] != nil || state.waiting.count < Self.waitingMax else { continue }
                state.waiting[key, default: cursor].advance(to: cursor)
            }
            guard !state.isWriting, !state.waiting.isEmpty else { return nil }
            state.isWriting = true
            return .second
        }
    }

    /// Acknowledgements of an installation that no durable row may have yet.
    func unwritten(of installation: [UInt8]) -> [Key: Cursor] {
        self.state.withLock { state in
            var cursors = state.waiting.filter { $0.key.installation == installation }
            for taken in state.taken.values {
                for (key, cursor) in taken where key.installation == installation {
                    cursors[key, default: cursor].advance(to: cursor)
                }
            }
            return cursors
        }
    }

    func newJob() -> Job {
        self.state.withLock { state in
            state.jobs += 1
            return Job(number: state.jobs)
        }
    }

    /// Takes some for a job to write: the same ones if the job is executed again.
    func take(for job: Job, max count: Int) -> [Key: Cursor] {
        self.state.withLock { state in
            if let known = state.taken[job] { return known }
            var taken: [Key: Cursor] = [:]
            for (key, cursor) in state.waiting.prefix(count) {
                taken[key] = cursor
                state.waiting[key] = nil
            }
            state.taken[job] = taken
            return taken
        }
    }

    /// Notes that a job's part is durable; `nil` if nothing waits for the next.
    func written(by job: Job) -> Pause? {
        self.state.withLock { state in
            state.taken[job] = nil
            state.isWriting = !state.waiting.isEmpty
            guard state.isWriting else { return nil }
            return state.waiting.count >= Self.waitingMany ? Pause.none : .second
        }
    }

    /// Notes that a job's part is not written, and waits again.
    func failed(_ job: Job) -> Pause {
        self.state.withLock { state in
            for (key, cursor) in state.taken.removeValue(forKey: job) ?? [:] {
                state.waiting[key, default: cursor].advance(to: cursor)
            }
            return .second
        }
    }
}

extension ChangeTransaction {
    /// Writes down what listeners have acknowledged, of subscriptions that are still there and are
    /// defined as they knew them.
    ///
    /// No position goes back.
    func write(_ cursors: [ListenerCursors.Key: ListenerCursors.Cursor]) throws(StorageFailure) {
        let keys = Array(cursors.keys)
        let authors = try self.rows(AuthorRow.byRecordName, keys: keys.map(\.owner))
        let subscriptions = try self.rows(
            SubscriptionRow.byOwner,
            keys: zip(keys, authors).map { key, author in
                // No author has the number 0.
                SubscriptionRow.byOwner.key(key.database, author?.number ?? 0, key.subscription)
            }
        )
        var present: [(key: ListenerCursors.Key, row: ListenerCursorRow)] = []
        for (key, subscription) in zip(keys, subscriptions) {
            guard let subscription, let cursor = cursors[key],
                subscription.createdPosition <= cursor.savedPosition
            else { continue }
            let row = ListenerCursorRow(
                subscription: subscription.number,
                installation: key.installation,
                position: cursor.position
            )
            present.append((key, row))
        }
        let stored = try self.rows(
            ListenerCursorRow.byKey,
            keys: present.map { ListenerCursorRow.byKey.key($0.row.subscription, $0.row.installation) }
        )
        for (cursor, stored) in zip(present, stored) {
            guard stored.map({ $0.position < cursor.row.position }) ?? true else { continue }
            try self.put(cursor.row)
            if stored == nil { self.count(rowBytes: RowBytes.cursor, in: cursor.key.database) }
        }
    }
}
