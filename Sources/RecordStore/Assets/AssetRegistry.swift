package import RecordModel
package import StorageContract
import Synchronization

/// The assets of a store, and who names them: rows, and no files.
///
/// A file is called after the asset's number, which is used once. An asset has a row before it has a
/// file, and until its file is gone: so no crash leaves a file that no row knows of.
///
/// A reply comes on a thread of the engine, or on the caller's thread before the call returns. Every
/// reply comes exactly once.
package final class AssetRegistry: Sendable {
    private let engine: any StorageEngine
    private let rules: WriteRules
    private let leases = AssetLeases()
    private let readLeases = AssetLeases()
    /// Uploads that got bytes; their rows do not say so yet.
    private let touched = Mutex<Set<AssetNumber>>([])
    /// Uploads that were given up; their rows may not say so yet.
    private let abandoned = Mutex<Set<AssetNumber>>([])

    init(engine: any StorageEngine, rules: WriteRules) {
        self.engine = engine
        self.rules = rules
    }

    /// Makes room for the assets that a user wants to upload.
    ///
    /// Finds the row of each asset, or makes one of the user in a public database. Quotas are
    /// checked for all of them together, and no row is made if one of them is refused. In a shared
    /// database `zone` names the owner who gets the bytes: the rows are of the owner's database
    /// and, until a record names them, of the user. Assets of the owner are not searched.
    ///
    /// Every upload that is `incomplete` has a lease from the transaction on, before the reply. Its row
    /// does not become due, however long the upload takes, until `release` was called for it as often
    /// as it was begun.
    ///
    /// - Durability: The reply comes when the rows are on disk.
    /// - Reply: It gets one status an asset, in order. Refused: `assetTooLarge`,
    ///   `quotaExceeded`, `notSignedIn`, `zoneMissing`, `permissionDenied` and what a write refuses.
    package func begin(
        _ assets: [Asset],
        in zone: ZoneID?,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[UploadStatus], StoreError>) -> Void
    ) {
        let rule = BeginUploadsRule(
            assets: assets,
            zone: zone,
            requester: requester,
            rules: self.rules,
            isAbandoned: { number in self.abandoned.withLock { $0.contains(number) } }
        )
        let grant = AssetLeases.Grant(self.leases)
        let granted: @Sendable (Result<[UploadStatus], StoreError>) -> Void = { result in
            if case .failure = result { grant.takeBack() }
            reply(result)
        }
        self.write(rows: assets.count, for: requester, granted) { (transaction) throws(StorageFailure) in
            let result = try rule.execute(in: transaction)
            if case .success(let uploads) = result { grant.take(uploads) }
            return result
        }
    }

    /// Notes that all bytes of an asset are in its file, agree with its hash, and are synced: from now
    /// on records may name it.
    ///
    /// - Durability: The reply comes when this is on disk. Refused with `assetUploadExpired` if the
    ///   row went meanwhile.
    package func complete(
        _ number: AssetNumber,
        reply: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        self.write(rows: 1, reply) { (transaction) throws(StorageFailure) in
            try transaction.completeUpload(number) ? .success(()) : .failure(.assetUploadExpired)
        }
    }

    /// Cancels an upload with bytes that do not agree with its hash: the row goes as one that is
    /// due, and its file with it.
    ///
    /// A `begin` after the call does not find the row. The engine may execute the job of that `begin`
    /// first, since jobs take turns and are executed again: such a `begin` marks the row itself.
    ///
    /// If the row cannot be written, it goes after the grace time.
    package func abandon(_ number: AssetNumber) {
        self.abandoned.withLock { _ = $0.insert(number) }
        // The job is not executed again after its reply, so a row that it left may be found again.
        self.write(rows: 1, { _ in self.abandoned.withLock { _ = $0.remove(number) } }) {
            (transaction) throws(StorageFailure) in
            .success(try transaction.abandonUpload(number))
        }
    }

    /// Notes that nothing is done any more to the files of uploads that `begin` has begun; each number
    /// once for each time that it was.
    package func release(_ numbers: [AssetNumber]) { self.leases.release(numbers) }

    /// Keeps assets that records have named while they are read, until `endReading` was called for
    /// them as many times.
    package func beginReading(_ numbers: [AssetNumber]) { self.readLeases.take(numbers) }

    package func endReading(_ numbers: [AssetNumber]) { self.readLeases.release(numbers) }

    /// Begins the grace time of open uploads anew; to be called once a minute.
    ///
    /// A sweep under pressure can then tell active uploads from abandoned ones.
    package func touchOpen() {
        for number in self.leases.numbers { self.touch(number) }
    }

    /// Notes that bytes came for an upload: its grace time begins anew.
    ///
    /// The row is written later, together with other rows of that time. To be called once a minute
    /// at most.
    package func touch(_ number: AssetNumber) {
        let isFirst = self.touched.withLock { touched in
            let isFirst = touched.isEmpty
            touched.insert(number)
            return isFirst
        }
        guard isFirst else { return }
        let batch = TouchedBatch()
        self.write(rows: 1, { _ in }) { (transaction) throws(StorageFailure) in
            .success(try self.writeTouched(batch, in: transaction))
        }
    }

    /// Finds assets that no record has named for the grace time, and uploads that have no lease and
    /// got no byte for that time.
    ///
    /// With `isPressed` space is needed now: assets that records have named go at once, unless they
    /// are being read, and the grace time of all others is a quarter of an hour.
    ///
    /// They are marked in the transaction that finds that no record names them, and no request
    /// finds them any more. Their files may go when the reply comes. The marks stay until
    /// `removed`, so the next call completes the removal after a crash between the two.
    ///
    /// - Reply: It gets fewer than `limit` if there are no more.
    package func removals(
        limit: Int,
        isPressed: Bool = false,
        reply: @escaping @Sendable (Result<[AssetNumber], StoreError>) -> Void
    ) {
        let batch = TouchedBatch()
        self.write(rows: limit, reply) { (transaction) throws(StorageFailure) in
            try self.writeTouched(batch, in: transaction)
            return .success(
                try transaction.markGoing(
                    unnamedSince: UnnamedBounds(
                        nowMilliseconds: transaction.nowMilliseconds,
                        graceSeconds: self.rules.assetGraceSeconds,
                        isPressed: isPressed
                    ),
                    limit: limit,
                    except: AssetLeases.Numbers(
                        written: self.leases.numbers,
                        read: self.readLeases.numbers
                    )
                )
            )
        }
    }

    /// Notes that the files of marked assets are gone, durably: so are their rows.
    package func removed(
        _ numbers: [AssetNumber],
        reply: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        self.write(rows: numbers.count, reply) { (transaction) throws(StorageFailure) in
            for number in numbers { try transaction.forgetAsset(number) }
            return .success(())
        }
    }

    /// Lists assets with complete bytes, in the order of their numbers, a page at a time: to look
    /// at all files.
    ///
    /// Blocks: any thread but an event loop.
    package func stored(after number: AssetNumber?, limit: Int) throws(StoreError) -> [StoredAsset] {
        do {
            return try self.engine.readTables { try $0.storedAssets(after: number, limit: limit) }
        } catch {
            throw .storageUnavailable(retryAfterMilliseconds: 200)
        }
    }

    /// The part of `touched` that one job has taken, for its executions after the first.
    private final class TouchedBatch: Sendable {
        let numbers = Mutex<Set<AssetNumber>>([])
    }

    private func writeTouched(
        _ batch: TouchedBatch,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) {
        let taken = self.touched.withLock { touched in
            defer { touched = [] }
            return touched
        }
        let numbers = batch.numbers.withLock { numbers in
            numbers.formUnion(taken)
            return numbers
        }
        for number in numbers { try transaction.renew(number) }
    }

    /// Has the engine execute a job, and replies when it is on disk.
    ///
    /// Jobs are idempotent: if the outcome of an execution was lost, the job is executed again as
    /// after a conflict.
    private func write<Value: Sendable>(
        rows: Int,
        for requester: Requester? = nil,
        _ reply: @escaping @Sendable (Result<Value, StoreError>) -> Void,
        retriesLeft: Int = RequestExecution.retriesMax,
        _ execute:
            @escaping @Sendable (any WriteTransaction) throws(StorageFailure) -> Result<
                Value, StoreError
            >
    ) {
        let job = WriteJob(
            requester: requester,
            records: max(1, rows),
            bytes: 0,
            deadlineMilliseconds: .max,
            origin: nil,
            // The store's own jobs end what has its room already.
            makesRoom: requester == nil,
            takesTurn: false
        ) { (transaction) throws(StorageFailure) in
            let result = try execute(transaction)
            return .finished { reply(result) }
        } fail: { failure in
            switch failure {
            case .storage(.conflict) where retriesLeft > 0, .storage(.outcomeUnknown) where retriesLeft > 0:
                self.write(rows: rows, for: requester, reply, retriesLeft: retriesLeft - 1, execute)
            case .overloaded, .shuttingDown, .deadlinePassed, .diskFull, .storage:
                reply(.failure(StoreError(failure)))
            }
        }
        self.engine.write(job)
    }
}
