private import FileIO
private import Foundation
internal import RecordClient
internal import RecordModel
private import Synchronization
private import WireProtocol

/// Uploads the files of records before the records are saved.
///
/// Each file is hashed first, so that the server can say how much of it is there. Afterwards the
/// file must be unchanged. If a later step fails, the uploaded bytes stay with the server for the
/// next attempt.
struct AssetUploads: Sendable {
    /// The most records with files in transfer at the same time.
    static let parallelMax = 4
    /// Files of one request; a record may have more.
    private static let requestFilesMax = 100

    let client: RecordClient
    let timeouts: Timeouts
    /// When the time limit for all of it ends.
    let end: ContinuousClock.Instant
    /// Gets the part of a record's files that the server has.
    let progress: @Sendable (CKRecord.ID) -> TransferMeter

    /// A file that is being saved.
    private struct Source: Sendable {
        let file: AssetFile
        let content: Asset
    }

    /// Uploads the files of saves, all or none of each save.
    ///
    /// - Parameters:
    ///   - saves: In any order.
    ///   - scope: The database.
    /// - Returns: For each save, in order, the save with the hashes of its files, or its error.
    func upload(
        _ saves: [OutgoingSave],
        to scope: DatabaseScopeModel
    ) async -> [Result<OutgoingSave, CKError>] {
        await withTaskGroup(of: (Int, Result<OutgoingSave, CKError>).self) { group in
            var results = saves.map { Result<OutgoingSave, CKError>.success($0) }
            var waiting = saves.indices.filter { !saves[$0].fields.isEmpty }[...]
            func startNext() {
                guard let index = waiting.popFirst() else { return }
                group.addTask {
                    do throws(CKError) {
                        return (index, .success(try await self.upload(saves[index], to: scope)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for _ in 0..<Self.parallelMax { startNext() }
            while let (index, result) = await group.next() {
                results[index] = result
                startNext()
            }
            return results
        }
    }

    private func upload(
        _ save: OutgoingSave,
        to scope: DatabaseScopeModel
    ) async throws(CKError) -> OutgoingSave {
        var contents: [ObjectIdentifier: Asset] = [:]
        var sources: [Asset: Source] = [:]
        for asset in save.assets {
            guard let source = try await self.source(of: asset, isLost: save.isLost) else { continue }
            contents[ObjectIdentifier(asset)] = source.content
            sources[source.content] = source
        }
        // All uploads have the same order: two uploads of the same files can't wait for each other.
        let ordered = sources.values.sorted { $0.content.sha256.lexicographicallyPrecedes($1.content.sha256) }
        if !ordered.isEmpty { try await self.send(ordered, of: save.record.recordID, to: scope) }
        do throws(FileFailure) {
            for source in ordered {
                try await FileThreads.shared.result { () throws(FileFailure) in
                    try source.file.checkUnchanged()
                }
            }
        } catch {
            throw CKError(error)
        }
        for asset in save.assets {
            if let content = contents[ObjectIdentifier(asset)] { asset.uploaded(as: content) }
        }
        var uploaded = save
        uploaded.uploaded(contents)
        return uploaded
    }

    /// Returns the file of an asset and its content; `nil` if only the server has it.
    ///
    /// With `isLost`, the server has said that it no longer has everything.
    private func source(of asset: CKAsset, isLost: Bool) async throws(CKError) -> Source? {
        guard let url = asset.fileURL else { return nil }
        let file: AssetFile
        do throws(FileFailure) {
            file = try await FileThreads.shared.result { () throws(FileFailure) in try AssetFile(url) }
        } catch {
            // A file of the cache may be gone, but the server's content is known.
            if !asset.isLocal { return nil }
            throw CKError(error)
        }
        let content = try await file.contents()
        // A changed file of the cache is no longer the asset.
        guard asset.isLocal || (isLost && content == asset.content) else { return nil }
        return Source(file: file, content: content)
    }

    private func send(
        _ sources: [Source],
        of recordID: CKRecord.ID,
        to scope: DatabaseScopeModel
    ) async throws(CKError) {
        let meter = self.progress(recordID)
        let total = sources.reduce(Int64(0)) { $0 + $1.content.size }
        var before: Int64 = 0
        for start in stride(from: 0, to: sources.count, by: Self.requestFilesMax) {
            let some = Array(sources[start..<min(start + Self.requestFilesMax, sources.count)])
            let zone = scope == .shared ? recordID.zoneID.model : nil
            try await self.send(some, to: scope, in: zone) { [before] done in
                meter.moved(before + done, of: total)
            }
            before += some.reduce(0) { $0 + $1.content.size }
        }
    }

    private func send(
        _ sources: [Source],
        to scope: DatabaseScopeModel,
        in zone: ZoneID?,
        moved: @escaping @Sendable (Int64) -> Void
    ) async throws(CKError) {
        // The files are read one after the other: one is open.
        let current = Mutex(0)
        let upload = AssetUpload(scope: scope, assets: sources.map(\.content), in: zone) {
            item,
            offset,
            memory throws(FileFailure) in
            let last = current.withLock { current in
                defer { current = item }
                return current
            }
            if last != item { sources[last].file.letGo() }
            try sources[item].file.read(at: offset, into: memory)
        } progress: { progress in
            moved(progress.doneBytes)
        }
        defer { for source in sources { source.file.letGo() } }
        let timeouts = self.timeouts.until(self.end)
        do throws(ClientError) {
            try await self.client.upload(
                upload,
                requestTimeout: timeouts.request,
                resourceTimeout: timeouts.resource
            )
        } catch {
            throw CKError(error)
        }
    }
}
