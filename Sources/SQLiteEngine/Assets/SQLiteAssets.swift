import Foundation
import GRDB
import RecordModel
import RecordStore
import Synchronization

/// Assets in their tables: what changes goes through the writer, in transactions with all else that waits.
final class SQLiteAssets: AssetRegistry {
    private let writer: WriteQueue
    private let reader: DatabaseQueue
    private let configuration: SQLiteEngineConfiguration
    /// Uploads that got bytes and whose rows do not say so yet.
    private let touched = Mutex<Set<AssetNumber>>([])
    private let open = OpenUploads()

    init(
        writer: WriteQueue,
        reader: DatabaseQueue,
        configuration: SQLiteEngineConfiguration
    ) {
        self.writer = writer
        self.reader = reader
        self.configuration = configuration
    }

    func begin(
        _ assets: [Asset],
        in zone: ZoneID?,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[AssetPlace], StoreError>) -> Void
    ) {
        let rule = BeginUploadsRule(
            assets: assets,
            zone: zone,
            requester: requester,
            bounds: self.configuration.bounds
        )
        let opening = OpenUploads.Opening(self.open)
        let answer: @Sendable (Result<[AssetPlace], StoreError>) -> Void = { result in
            if case .failure = result { opening.takeBack() }
            reply(result)
        }
        self.write(items: assets.count, for: requester, answer) { (transaction) throws(StorageFailure) in
            let result = try rule.execute(in: transaction)
            if case .success(let places) = result { opening.open(places) }
            return result
        }
    }

    func release(_ numbers: [AssetNumber]) { self.open.close(numbers) }

    func complete(_ number: AssetNumber, reply: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
        self.write(items: 1, reply) { (transaction) throws(StorageFailure) in
            try transaction.completeUpload(number) ? .success(()) : .failure(.assetUploadExpired)
        }
    }

    func abandon(_ number: AssetNumber) {
        self.write(items: 1, { _ in }) { (transaction) throws(StorageFailure) in
            .success(try transaction.abandonUpload(number))
        }
    }

    func touch(_ number: AssetNumber) {
        let isFirst = self.touched.withLock { touched in
            let isFirst = touched.isEmpty
            touched.insert(number)
            return isFirst
        }
        // Whatever comes until the writer gets to it is written together.
        guard isFirst else { return }
        self.write(items: 1, { _ in }) { (transaction) throws(StorageFailure) in
            .success(try self.writeTouched(transaction))
        }
    }

    private func writeTouched(_ transaction: WriterTransaction) throws(StorageFailure) {
        let numbers = self.touched.withLock { touched in
            defer { touched = [] }
            return touched
        }
        for number in numbers { try transaction.renew(number) }
    }

    func removals(limit: Int, reply: @escaping @Sendable (Result<[AssetNumber], StoreError>) -> Void) {
        let graceMilliseconds = Int64(self.configuration.assetGraceSeconds) * 1_000
        self.write(items: limit, reply) { (transaction) throws(StorageFailure) in
            try self.writeTouched(transaction)
            return .success(
                try transaction.markGoing(
                    unnamedSince: transaction.nowMilliseconds - graceMilliseconds,
                    limit: limit,
                    but: self.open.numbers
                )
            )
        }
    }

    func removed(
        _ numbers: [AssetNumber],
        reply: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        self.write(items: numbers.count, reply) { (transaction) throws(StorageFailure) in
            for number in numbers { try transaction.forgetAsset(number) }
            return .success(())
        }
    }

    func stored(after number: AssetNumber?, limit: Int) throws(StoreError) -> [StoredAsset] {
        do {
            return try self.reader.inDatabase { try Self.stored(after: number, limit: limit, $0) }
        } catch {
            throw .storageUnavailable(retryAfterMilliseconds: 200)
        }
    }

    static func stored(after number: AssetNumber?, limit: Int, _ database: Database) throws -> [StoredAsset] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT number, sha256, size FROM asset WHERE number > ? AND state = 1
                ORDER BY number LIMIT ?
                """,
            arguments: [number?.rawValue ?? 0, limit]
        ).map { row in
            let hash: Data = row[1]
            return StoredAsset(
                number: AssetNumber(rawValue: row[0]),
                asset: Asset(sha256: Array(hash), size: row[2])
            )
        }
    }

    /// Has the writer do something, and replies when it is on disk.
    private func write<Answer: Sendable>(
        items: Int,
        for requester: Requester? = nil,
        _ reply: @escaping @Sendable (Result<Answer, StoreError>) -> Void,
        _ work: @escaping @Sendable (WriterTransaction) throws(StorageFailure) -> Result<Answer, StoreError>
    ) {
        let job = WriteQueue.RowWork(items: items, requester: requester) {
            transaction throws(StorageFailure) in
            let answer = try work(transaction)
            return { reply(answer) }
        } refuse: { error in
            reply(.failure(error))
        }
        switch self.writer.add(job) {
        case .admitted: return
        case .refused(let milliseconds):
            reply(.failure(.overloaded(retryAfterMilliseconds: milliseconds)))
        case .closed: reply(.failure(.shuttingDown))
        }
    }
}
