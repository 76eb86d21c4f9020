private import FileIO
private import Foundation
internal import RecordClient
internal import RecordModel
internal import WireProtocol

/// What to fetch again if a record changed while its files came.
struct AssetSource: Sendable {
    var scope: DatabaseScopeModel
    /// The fields to fetch; `nil` if all.
    var desiredKeys: [CKRecord.FieldKey]?
}

/// Downloads the files of fetched records into the cache.
///
/// The rest of an earlier download is hashed and kept. Every file is compared with its hash before
/// the caller gets it.
struct AssetDownloads: RecordCompletion {
    /// The most records with files in transfer at the same time.
    static let parallelMax = 4
    /// Files of a record that are open and requested at a time.
    private static let requestFilesMax = 32
    /// How often a record is fetched again because it changed while its files came.
    private static let refetchesMax = 3

    let session: ServerAccess.Session
    let source: AssetSource
    let user: String
    let timeouts: Timeouts
    /// When the time limit for all of it ends.
    let end: ContinuousClock.Instant

    func isNeeded(for record: CKRecord) -> Bool {
        let table = record.table
        return table.hasAssets && !table.assetsWithoutFiles.isEmpty
    }

    /// Gets the files of a record's assets.
    ///
    /// `meter` gets the number of bytes that have come. If the server's record has changed,
    /// another record is returned.
    func complete(_ record: CKRecord, meter: TransferMeter) async throws(CKError) -> CKRecord {
        var record = record
        var refetches = 0
        while true {
            guard let refusal = try await self.fetchFiles(of: record, meter: meter) else { return record }
            guard refetches < Self.refetchesMax else { throw refusal }
            refetches += 1
            let again = try await self.fetchAgain(record.recordID)
            guard again.recordChangeTag != record.recordChangeTag else { throw refusal }
            (again as? CKShare)?.isWhere(record as? CKShare)
            record = again
        }
    }

    /// - Returns: The server's statement that the record no longer names the assets; `nil` if the
    ///   files are there.
    private func fetchFiles(
        of record: CKRecord,
        meter: TransferMeter
    ) async throws(CKError) -> CKError? {
        let without = record.snapshot.table.assetsWithoutFiles
        let assets = Dictionary(grouping: without) { $0.content ?? .unread }
        var missing: [Asset] = []
        for (content, named) in assets.sorted(by: { $0.key.sha256.lexicographicallyPrecedes($1.key.sha256) })
        {
            if let file = try await self.session.cache.find(content) {
                for asset in named { asset.downloaded(to: file) }
            } else {
                missing.append(content)
            }
        }
        var share = Share(meter: meter, totalBytes: missing.reduce(0) { $0 + $1.size })
        for start in stride(from: 0, to: missing.count, by: Self.requestFilesMax) {
            let some = missing[start..<min(start + Self.requestFilesMax, missing.count)]
            var partials: [PartialAsset] = []
            for content in some { partials.append(try await self.partial(of: content)) }
            if let refusal = try await self.complete(partials, assets, of: record.recordID, share) {
                return refusal
            }
            share.doneBytes += some.reduce(0) { $0 + $1.size }
        }
        return nil
    }

    /// The share of some of a record's files in all of them.
    private struct Share {
        let meter: TransferMeter
        let totalBytes: Int64
        /// The bytes of the files before these.
        var doneBytes: Int64 = 0
    }

    /// Downloads the missing parts of some files, and gives the files to their assets.
    ///
    /// - Returns: As above.
    private func complete(
        _ partials: [PartialAsset],
        _ assets: [Asset: [CKAsset]],
        of recordID: CKRecord.ID,
        _ share: Share
    ) async throws(CKError) -> CKError? {
        var partials = partials
        // The rest of an earlier download may have been damaged since: then download it from the
        // beginning.
        for isLastAttempt in [false, true] {
            if let refusal = try await self.download(partials, of: recordID, share) { return refusal }
            let broken = try await self.takeIn(partials, assets)
            guard !broken.isEmpty else { return nil }
            guard !isLastAttempt else { break }
            partials = broken
        }
        throw CKError.local(.internalError, "The bytes of an asset do not match its hash")
    }

    private func partial(of content: Asset) async throws(CKError) -> PartialAsset {
        let partial = try await Self.onThread { () throws(FileFailure) in
            try self.session.cache.partial(of: content)
        }
        try await partial.recover()
        return partial
    }

    private func download(
        _ partials: [PartialAsset],
        of recordID: CKRecord.ID,
        _ share: Share
    ) async throws(CKError) -> CKError? {
        let lengths = partials.map(\.length)
        let before = lengths.reduce(share.doneBytes, +)
        let download = AssetDownload(
            scope: self.source.scope,
            record: recordID.model,
            parts: zip(partials, lengths).map { AssetDownload.Part($0.asset, $1..<$0.asset.size) }
        ) { part, offset, bytes throws(FileFailure) in
            try partials[part].write(bytes, at: offset)
        } digest: {
            partials[$0].hash($1)
        } progress: { progress in
            share.meter.moved(before + progress.doneBytes, of: share.totalBytes)
        }
        let timeouts = self.timeouts.until(self.end)
        do throws(ClientError) {
            try await self.session.client.download(
                download,
                requestTimeout: timeouts.request,
                resourceTimeout: timeouts.resource
            )
            return nil
        } catch {
            if case .refused(let failure) = error, failure.code == .assetNotAvailable {
                return CKError(error)
            }
            throw CKError(error)
        }
    }

    /// Adds complete files to the cache.
    ///
    /// - Returns: The files with wrong bytes, emptied.
    private func takeIn(
        _ partials: [PartialAsset],
        _ assets: [Asset: [CKAsset]]
    ) async throws(CKError) -> [PartialAsset] {
        var broken: [PartialAsset] = []
        for partial in partials {
            let file = try await Self.onThread { () throws(FileFailure) -> CachedAsset? in
                guard partial.isAsset else {
                    try partial.clear()
                    return nil
                }
                return try self.session.cache.takeIn(partial)
            }
            guard let file else {
                broken.append(partial)
                continue
            }
            for asset in assets[partial.asset] ?? [] { asset.downloaded(to: file) }
        }
        return broken
    }

    private func fetchAgain(_ id: CKRecord.ID) async throws(CKError) -> CKRecord {
        let fetch = RecordFetch([id], desiredKeys: self.source.desiredKeys, scope: self.source.scope)
        let operation = try fetch.operation(user: self.user)
        let outcomes: [UInt32: ItemOutcome]
        do throws(ClientError) {
            outcomes = try await self.session.client.perform(
                operation,
                timeout: self.timeouts.until(self.end).request
            )
        } catch {
            throw CKError(error)
        }
        guard let outcome = outcomes[0],
            case .value(_, let result)? = try CKError.reading({ () throws(WireError) in
                try fetch.result(of: Item(index: 0, outcome: outcome), user: self.user)
            })
        else { throw .resultOfAnotherKind }
        do { return try result.get() } catch { throw error as? CKError ?? .resultOfAnotherKind }
    }

    private static func onThread<Value: Sendable>(
        _ job: @escaping @Sendable () throws(FileFailure) -> Value
    ) async throws(CKError) -> Value {
        do throws(FileFailure) {
            return try await FileThreads.shared.result(of: job)
        } catch {
            throw CKError(error)
        }
    }
}
