import Foundation
import GRDB
import RecordModel
import RecordStore

/// What waits for the writer, bounded in number and bytes; beyond a bound the newcomer is refused.
///
/// SAFETY: `state` is read and written only between `lock()` and `unlock()` of the condition.
final class WriteQueue: @unchecked Sendable {
    enum Job {
        case request(PendingWrite)
        /// Rows of assets, in a transaction with requests.
        case assets(AssetWork)
        /// Rare work of the directory, in a transaction of its own.
        case administration(Administration)
    }

    struct PendingWrite {
        let request: WriteRequest
        let reply: @Sendable (Result<[WriteOutcome], StoreError>) -> Void

        /// At least one, so that a queue of empty requests ends somewhere.
        var records: Int {
            switch self.request.operation {
            case .modifyRecords(let operation): max(1, operation.saves.count + operation.deletes.count)
            case .modifyZones(let operation): max(1, operation.saves.count + operation.deletes.count)
            case .modifySubscriptions(let operation):
                max(1, operation.saves.count + operation.deletes.count)
            case .acceptShares(let operation): max(1, operation.tokens.count)
            case .requestShareAccess(let operation): max(1, operation.tokens.count)
            }
        }
    }

    struct AssetWork {
        /// How many rows it is about.
        let items: Int
        /// Does it, perhaps again after a transaction that was taken back, and returns what replies when it is on disk.
        let work: @Sendable (WriterTransaction) throws(StorageFailure) -> @Sendable () -> Void
        let refuse: @Sendable (StoreError) -> Void
    }

    struct Administration {
        let work: @Sendable (WriterTransaction, Database) throws -> Void
        let reply: @Sendable ((any Error)?) -> Void
    }

    enum Admission {
        case admitted
        case full
        case closed
    }

    private struct State {
        var jobs: [Job] = []
        var bytes = 0
        var isClosed = false
        var writerWaits = false
    }

    /// How long the writer waits before it looks whether another process wrote.
    private static let waitSecondsMax = 1.0

    private let condition = NSCondition()
    private var state = State()
    private let requestsMax: Int
    private let bytesMax: Int

    init(requestsMax: Int, bytesMax: Int) {
        self.requestsMax = requestsMax
        self.bytesMax = bytesMax
    }

    func add(_ write: PendingWrite) -> Admission {
        self.condition.withLock {
            guard !self.state.isClosed else { return .closed }
            guard self.state.jobs.count < self.requestsMax,
                self.state.bytes + write.request.bytes <= self.bytesMax || self.state.jobs.isEmpty
            else { return .full }
            self.state.bytes += write.request.bytes
            self.append(.request(write))
            return .admitted
        }
    }

    /// What a limit in number bounds is refused beyond it; the rest is bounded by what began before.
    func add(_ work: AssetWork, isBounded: Bool) -> Admission {
        self.condition.withLock {
            guard !self.state.isClosed else { return .closed }
            guard !isBounded || self.state.jobs.count < self.requestsMax else { return .full }
            self.append(.assets(work))
            return .admitted
        }
    }

    /// Rare work is not refused for want of room.
    func add(_ administration: Administration) -> Admission {
        self.condition.withLock {
            guard !self.state.isClosed else { return .closed }
            self.append(.administration(administration))
            return .admitted
        }
    }

    /// Takes what fits into one commit, in order: at least one job, a job of the directory by itself.
    ///
    /// Without `waits`, or after a second of waiting, it may be nothing; `nil` when the queue is closed and empty.
    func takeBatch(recordsMax: Int, bytesMax: Int, waits: Bool) -> [Job]? {
        self.condition.withLock {
            while self.state.jobs.isEmpty {
                if self.state.isClosed { return nil }
                guard waits else { return [] }
                self.state.writerWaits = true
                let isWoken = self.condition.wait(until: Date(timeIntervalSinceNow: Self.waitSecondsMax))
                self.state.writerWaits = false
                if !isWoken, self.state.jobs.isEmpty, !self.state.isClosed { return [] }
            }
            var records = 0
            var bytes = 0
            var count = 0
            for job in self.state.jobs {
                guard let cost = job.cost else {
                    if count == 0 { count = 1 }
                    break
                }
                guard
                    count == 0 || (records + cost.records <= recordsMax && bytes + cost.bytes <= bytesMax)
                else { break }
                records += cost.records
                bytes += cost.bytes
                count += 1
            }
            self.state.bytes -= bytes
            let batch = Array(self.state.jobs.prefix(count))
            self.state.jobs.removeFirst(count)
            return batch
        }
    }

    var isEmpty: Bool { self.condition.withLock { self.state.jobs.isEmpty } }

    var waiting: (requests: Int, bytes: Int) {
        self.condition.withLock { (self.state.jobs.count, self.state.bytes) }
    }

    func close() {
        self.condition.withLock {
            self.state.isClosed = true
            self.condition.signal()
        }
    }

    private func append(_ job: Job) {
        self.state.jobs.append(job)
        if self.state.writerWaits { self.condition.signal() }
    }
}

extension WriteQueue.Job {
    /// What it counts for in a transaction; `nil`: it has one by itself.
    fileprivate var cost: (records: Int, bytes: Int)? {
        switch self {
        case .request(let write): (write.records, write.request.bytes)
        case .assets(let work): (max(1, work.items), 0)
        case .administration: nil
        }
    }
}
