import AssetStorage
import NIOCore
import RecordModel
import StorageContract
import Synchronization
import Testing

// Calls of a byte store whose replies a test waits for.
extension AssetByteStore {
    func read(_ readings: [AssetReading]) async -> [Result<[ByteBuffer], AssetStoreError>] {
        await withCheckedContinuation { continuation in
            self.read(readings, into: { ByteBufferAllocator().buffer(capacity: $0) }) {
                continuation.resume(returning: $0)
            }
        }
    }

    /// Ranges of an asset, each behind the word "head".
    func read(
        _ number: AssetNumber,
        _ ranges: (offset: Int64, count: Int)...
    ) async -> Result<[[UInt8]], AssetStoreError> {
        let pieces = ranges.map {
            AssetReading.Piece(offset: $0.offset, count: $0.count, header: ByteBuffer(string: "head"))
        }
        let results = await self.read([AssetReading(of: number, pieces, restBytes: 0)])
        return results[0].map { frames in frames.map { Array($0.readableBytesView) } }
    }

    /// All bytes of an asset of this size.
    func contents(of number: AssetNumber, size: Int) async throws -> [UInt8] {
        let pieces = try await self.read(number, (0, size)).get()
        return Array(pieces[0].dropFirst(4))
    }

    func remove(_ numbers: [AssetNumber]) async throws {
        let result = await withCheckedContinuation { continuation in
            self.remove(numbers) { continuation.resume(returning: $0) }
        }
        try result.get()
    }

    /// All numbers, in the order of the pages.
    func numbers(pageMax: Int = 3) async throws -> [AssetNumber] {
        var numbers: [AssetNumber] = []
        var cursor: AssetPage.Cursor?
        repeat {
            let result = await withCheckedContinuation { continuation in
                self.list(after: cursor, limit: pageMax) { continuation.resume(returning: $0) }
            }
            let page = try result.get()
            #expect(page.numbers.count <= pageMax)
            numbers += page.numbers
            cursor = page.next
        } while cursor != nil
        return numbers
    }

    /// Stores an asset as a whole.
    func add(_ contents: [UInt8], _ number: AssetNumber) async {
        let upload = self.upload([UploadItem(number: number, asset: AssetFiles.asset(contents))])
        #expect(await upload.recovered() == .success([0]))
        let (finished, outcome) = await upload.executed(.appends(contents[...]) + [.finish(item: 0)])
        #expect(finished == [0] && outcome.failure == nil)
        await upload.closed()
    }
}

extension AssetUpload {
    func recovered() async -> Result<[Int64], UploadFailure> {
        await withCheckedContinuation { continuation in
            self.recover(progress: { _ in }) { continuation.resume(returning: $0) }
        }
    }

    /// - Returns: The items that were finished, in their order, and the outcome.
    func executed(_ steps: [UploadStep], isSyncDue: Bool = false) async -> ([Int], UploadOutcome) {
        let finished = Mutex<[Int]>([])
        let outcome = await withCheckedContinuation { continuation in
            self.execute(steps, isSyncDue: isSyncDue) { event in
                switch event {
                case .finished(let item): finished.withLock { $0.append(item) }
                case .executed(let outcome): continuation.resume(returning: outcome)
                }
            }
        }
        return (finished.withLock { $0 }, outcome)
    }

    func synced(_ item: Int) async throws -> UploadDurability {
        let result = await withCheckedContinuation { continuation in
            self.sync(item) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    func discarded(_ item: Int) async {
        await withCheckedContinuation { continuation in self.discard(item) { continuation.resume() } }
    }

    func closed(after steps: [UploadStep] = []) async {
        await withCheckedContinuation { continuation in
            self.close(after: steps) { continuation.resume() }
        }
    }
}

extension [UploadStep] {
    /// Appends bytes in pieces of some hundred.
    static func appends(_ contents: ArraySlice<UInt8>, to item: Int = 0) -> [UploadStep] {
        stride(from: contents.startIndex, to: contents.endIndex, by: 300).map { start in
            let piece = contents[start..<Swift.min(start + 300, contents.endIndex)]
            return .append(item: item, pieces: [ByteBuffer(bytes: piece)])
        }
    }
}
