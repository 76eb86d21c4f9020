import RecordStore
import Synchronization

/// What listeners have acknowledged and the file does not have yet: one position an installation and subscription.
final class ListenerCursors: Sendable {
    struct Key: Hashable {
        let installation: [UInt8]
        let database: DatabaseID
        let owner: String
        let subscription: String
    }

    struct Cursor {
        /// Where the subscription was saved that the listener knew.
        var savedPosition: Int64
        var position: Int64

        mutating func advance(to other: Cursor) {
            self.savedPosition = max(self.savedPosition, other.savedPosition)
            self.position = max(self.position, other.position)
        }
    }

    private struct State {
        var waiting: [Key: Cursor] = [:]
        /// Those that a transaction has written that is not committed.
        var written: [Key: Cursor] = [:]
        var writtenMilliseconds: Int64 = 0
    }

    static let waitingMax = 65_536
    /// So many make the next commit write some, however long ago the last did.
    private static let waitingMany = 4_096
    private static let pauseMilliseconds: Int64 = 1_000

    private let state = Mutex(State())

    var isEmpty: Bool { self.state.withLock { $0.waiting.isEmpty } }

    func add(_ acknowledgements: [Acknowledgement], by listener: ListenerIdentity) {
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
        }
    }

    /// What waits for an installation.
    func waiting(for installation: [UInt8]) -> [Key: Cursor] {
        self.state.withLock { state in
            state.waiting.filter { $0.key.installation == installation }
        }
    }

    /// Whether a commit should write some.
    func isDue(nowMilliseconds now: Int64) -> Bool {
        self.state.withLock { state in
            guard !state.waiting.isEmpty else { return false }
            return state.waiting.count >= Self.waitingMany
                || now - state.writtenMilliseconds >= Self.pauseMilliseconds
        }
    }

    /// Takes some to write; `confirm` or `takeBack` ends it.
    func take(max count: Int, nowMilliseconds now: Int64) -> [(key: Key, cursor: Cursor)] {
        self.state.withLock { state in
            state.writtenMilliseconds = now
            let taken = state.waiting.prefix(count).map { (key: $0.key, cursor: $0.value) }
            for (key, cursor) in taken {
                state.waiting[key] = nil
                state.written[key, default: cursor].advance(to: cursor)
            }
            return taken
        }
    }

    /// What was taken is committed.
    func confirm() {
        self.state.withLock { if !$0.written.isEmpty { $0.written = [:] } }
    }

    /// What was taken is not committed, and waits again.
    func takeBack() {
        self.state.withLock { state in
            for (key, cursor) in state.written { state.waiting[key, default: cursor].advance(to: cursor) }
            state.written = [:]
        }
    }
}
