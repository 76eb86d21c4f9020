import RecordModel
import Synchronization
import WireProtocol

/// A request from the time when it was due to its end.
final class Call: Sendable {
    /// The content of a call, and what its response is compared with.
    enum Work: Sendable {
        case save([Int])
        case delete(Int)
        case fetch(Int)
        /// With the keys that the query finds, unless they are deleted.
        case query(keys: Range<Int>)
        case changes(zone: Int)
        case push(Int)
        case sync(Int)
        case upload(Int, AssetBytes)
        case download(Int, Asset)
    }

    let due: ContinuousClock.Instant
    let work: Work
    /// `nil` for an upload or a download.
    let operation: Operation?
    /// Ticks of the key table when it was sent.
    let ticks: UInt64
    /// Whether it is sent at the time that its rejection named.
    let isRetry: Bool
    private let items = Mutex<[Item]>([])

    init(due: ContinuousClock.Instant, work: Work, operation: Operation?, ticks: UInt64) {
        self.due = due
        self.work = work
        self.operation = operation
        self.ticks = ticks
        self.isRetry = false
    }

    /// The same request once more, counted from its own arrival.
    init(again other: Call, due: ContinuousClock.Instant) {
        self.due = due
        self.work = other.work
        self.operation = other.operation
        self.ticks = other.ticks
        self.isRetry = true
    }

    /// The keys that it writes, or `nil` if it reads.
    var writtenKeys: [Int]? {
        switch self.work {
        case .save(let keys): keys
        case .delete(let key), .push(let key), .sync(let key), .upload(let key, _): [key]
        case .fetch, .query, .changes, .download: nil
        }
    }

    /// The key of a save that listeners must be notified of.
    var awaitedKey: Int? {
        switch self.work {
        case .push(let key), .sync(let key): key
        default: nil
        }
    }

    func received(_ items: [Item]) { self.items.withLock { $0 += items } }

    func takeItems() -> [Item] {
        self.items.withLock { items in
            let taken = items
            items = []
            return taken
        }
    }

    var measured: Measured {
        switch self.work {
        case .save(let keys): keys.count == 1 ? .save : .saveBatch
        case .delete: .delete
        case .fetch: .fetch
        case .query: .query
        case .changes: .changes
        case .push: .push
        case .sync: .sync
        case .upload: .upload
        case .download: .download
        }
    }
}

extension Step {
    /// The kind that an arrival counts for if it never became a request.
    var measured: Measured {
        switch self {
        case .save: .save
        case .saveBatch: .saveBatch
        case .delete: .delete
        case .fetch: .fetch
        case .query: .query
        case .changes: .changes
        case .push: .push
        case .assets: .upload
        case .sync: .sync
        }
    }
}
