import AssetStorage
import FileIO
import RecordModel

/// The files of an upload: one lane for all of them, and syncs beside it.
final class FolderUpload: AssetUpload {
    private let items: [UploadItem]
    /// `nil` for an item with nothing to send.
    private let files: [UploadFile?]
    private let lane: FileLane
    private let threads: FileThreads

    init(_ items: [UploadItem], files: [UploadFile?], threads: FileThreads) {
        self.items = items
        self.files = files
        self.lane = FileLane(on: threads)
        self.threads = threads
    }

    // MARK: - Recovery

    func recover(
        progress: @escaping @Sendable (Int64) -> Void,
        reply: @escaping @Sendable (Result<[Int64], UploadFailure>) -> Void
    ) {
        self.recover(behind: [], progress: progress, reply: reply)
    }

    /// Continues after the items with known offsets.
    private func recover(
        behind known: [Int64],
        progress: @escaping @Sendable (Int64) -> Void,
        reply: @escaping @Sendable (Result<[Int64], UploadFailure>) -> Void
    ) {
        self.lane.submit {
            var offsets = known
            do throws(AssetStoreError) {
                while offsets.count < self.files.count {
                    guard let file = self.files[offsets.count] else {
                        offsets.append(self.items[offsets.count].asset.size)
                        continue
                    }
                    let offset = try file.recover()
                    progress(offsets.reduce(file.recoveredBytes, +))
                    // Other uploads have their turns between two steps.
                    guard let offset else {
                        return self.recover(behind: offsets, progress: progress, reply: reply)
                    }
                    offsets.append(offset)
                }
                reply(.success(offsets))
            } catch {
                reply(.failure(UploadFailure(item: offsets.count, .failed(error))))
            }
        }
    }

    // MARK: - Bytes

    func execute(
        _ steps: [UploadStep],
        isSyncDue: Bool,
        reply: @escaping @Sendable (UploadEvent) -> Void
    ) {
        self.lane.submit {
            var outcome = UploadOutcome()
            for step in steps {
                do throws(UploadFailure) {
                    try self.execute(step, isSyncDue: isSyncDue, &outcome, reply)
                } catch {
                    outcome.failure = error
                    break
                }
            }
            reply(.executed(outcome))
        }
    }

    private func execute(
        _ step: UploadStep,
        isSyncDue: Bool,
        _ outcome: inout UploadOutcome,
        _ reply: (UploadEvent) -> Void
    ) throws(UploadFailure) {
        let file = self.file(step.item)
        do throws(AssetStoreError) {
            switch step {
            case .append(let item, let pieces):
                outcome.durable.append((item, try file.append(pieces)))
                outcome.syncDue = file.wantsToBeDurable(isDue: isSyncDue) ? item : nil
                return
            case .finish(let item):
                if try file.finish() == .complete { return reply(.finished(item: item)) }
            }
        } catch {
            throw UploadFailure(item: step.item, .failed(error))
        }
        throw UploadFailure(item: step.item, .differs)
    }

    func sync(
        _ item: Int,
        reply: @escaping @Sendable (Result<UploadDurability, AssetStoreError>) -> Void
    ) {
        let file = self.file(item)
        self.threads.run {
            reply(
                Result { () throws(AssetStoreError) in
                    let bytes = try file.makeDurable()
                    return UploadDurability(
                        bytes: bytes,
                        isMoreDue: file.wantsToBeDurable(isDue: false)
                    )
                }
            )
        }
    }

    // MARK: - Ends

    func discard(_ item: Int, reply: @escaping @Sendable () -> Void) {
        let file = self.file(item)
        self.lane.submit {
            file.discard()
            reply()
        }
    }

    func close(after steps: [UploadStep], reply: @escaping @Sendable () -> Void) {
        self.lane.submit {
            self.append(steps)
            for file in self.files { file?.close() }
            reply()
        }
    }

    /// Writes bytes that were not handed to a thread yet.
    ///
    /// Skips a file that is closed or has failed.
    private func append(_ steps: [UploadStep]) {
        for step in steps {
            guard case .append(let item, let pieces) = step,
                (try? self.file(item).append(pieces)) != nil
            else { return }
        }
    }

    private func file(_ item: Int) -> UploadFile {
        guard let file = self.files[item] else {
            preconditionFailure("a step for an item that has nothing to send")
        }
        return file
    }
}
