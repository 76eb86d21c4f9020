import AssetStorage
import NIOCore
import RecordModel
import StorageContract
import Synchronization
import TestSupport
import Testing

/// The promises of every byte store: uploads that are complete, cut off, or met by a place that fails.
@Suite(.timeLimit(.minutes(10)))
struct ByteStoreUploadTests {
    private static let number = AssetNumber(rawValue: 0x1F2A)

    private static func upload(_ contents: [UInt8], in place: ByteStoreUnderTest) -> any AssetUpload {
        place.store.upload([UploadItem(number: Self.number, asset: AssetFiles.asset(contents))])
    }

    /// Sends what is missing, and expects the asset to be complete.
    private static func complete(
        _ contents: [UInt8],
        from offset: Int64,
        by upload: any AssetUpload,
        in place: ByteStoreUnderTest
    ) async throws {
        let steps: [UploadStep] = .appends(contents[Int(offset)...]) + [.finish(item: 0)]
        let (finished, outcome) = await upload.executed(steps)
        #expect(finished == [0] && outcome.failure == nil)
        await upload.closed()
        let stored = try await place.store.contents(of: Self.number, size: contents.count)
        #expect(stored == contents)
        #expect(try await place.store.numbers() == [Self.number])
    }

    @Test(arguments: ByteStoreKind.allCases, [0, 1, 999, 1_000, 1_001, 5_000])
    func `bytes that came in order are the asset`(kind: ByteStoreKind, size: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(size))
        let contents = AssetFiles.contents(size, using: &generator)
        let place = try await kind.make()
        let upload = Self.upload(contents, in: place)
        #expect(await upload.recovered() == .success([0]))
        try await Self.complete(contents, from: 0, by: upload, in: place)
        await place.store.shutdown()
    }

    @Test(arguments: ByteStoreKind.allCases)
    func `assets of an upload finish in the order of the steps`(kind: ByteStoreKind) async throws {
        var generator = SeededGenerator(seed: 5)
        let contents = [700, 20, 2_500].map { AssetFiles.contents($0, using: &generator) }
        let assets = contents.map(AssetFiles.asset)
        let place = try await kind.make()
        let numbers = [7, 9].map { AssetNumber(rawValue: $0) }
        let upload = place.store.upload([
            UploadItem(number: numbers[0], asset: assets[0]),
            UploadItem(number: nil, asset: assets[1]),
            UploadItem(number: numbers[1], asset: assets[2]),
        ])
        #expect(await upload.recovered() == .success([0, 20, 0]))
        let first: [UploadStep] = .appends(contents[0][...], to: 0) + [.finish(item: 0)]
        let last: [UploadStep] = .appends(contents[2][...], to: 2) + [.finish(item: 2)]
        let (finished, outcome) = await upload.executed(first + last)
        #expect(finished == [0, 2] && outcome.failure == nil)
        #expect(outcome.durable.map(\.item) == [0, 0, 0] + Array(repeating: 2, count: 9))
        await upload.closed()
        #expect(try await place.store.contents(of: numbers[0], size: 700) == contents[0])
        #expect(try await place.store.contents(of: numbers[1], size: 2_500) == contents[2])
        await place.store.shutdown()
    }

    @Test(arguments: ByteStoreKind.allCases)
    func `bytes of another hash are removed, and nothing behind them is executed`(
        kind: ByteStoreKind
    ) async throws {
        var generator = SeededGenerator(seed: 1)
        let contents = AssetFiles.contents(5_000, using: &generator)
        var asset = AssetFiles.asset(contents)
        asset.sha256[31] ^= 1
        let place = try await kind.make()
        let upload = place.store.upload([
            UploadItem(number: Self.number, asset: asset),
            UploadItem(number: AssetNumber(rawValue: 7), asset: AssetFiles.asset([1])),
        ])
        #expect(await upload.recovered() == .success([0, 0]))
        let steps: [UploadStep] = .appends(contents[...]) + [.finish(item: 0)]
        let behind: [UploadStep] = .appends([1], to: 1) + [.finish(item: 1)]
        let (finished, outcome) = await upload.executed(steps + behind)
        #expect(finished == [])
        #expect(outcome.failure == UploadFailure(item: 0, .differs))
        await upload.closed()
        #expect(try await place.store.numbers() == [])
        await place.store.shutdown()
    }

    @Test(arguments: ByteStoreKind.allCases, [true, false])
    func `an upload that is cut off goes on where it was told to be durable, or later`(
        kind: ByteStoreKind,
        isClosed: Bool
    ) async throws {
        var generator = SeededGenerator(seed: 3)
        let contents = AssetFiles.contents(5_000, using: &generator)
        for cut in [0, 1, 700, 999, 1_000, 1_001, 2_500, 4_000, 4_999, 5_000] {
            let place = try await kind.make()
            let first = Self.upload(contents, in: place)
            #expect(await first.recovered() == .success([0]))
            let (_, outcome) = await first.executed(.appends(contents[..<cut]))
            var durable = outcome.durable.last?.bytes ?? 0
            if let item = outcome.syncDue { durable = max(durable, try await first.synced(item).bytes) }
            if isClosed { await first.closed() }
            await place.store.shutdown()
            let restarted = try await place.restarted()
            let second = Self.upload(contents, in: restarted)
            let offset = try #require(try await second.recovered().get().first)
            #expect(offset >= durable && offset <= cut)
            // What an upload that was closed has kept need not be sent again.
            if isClosed, cut < 5_000 { #expect(offset >= cut / 1_000 * 1_000) }
            try await Self.complete(contents, from: offset, by: second, in: restarted)
            await restarted.store.shutdown()
        }
    }

    @Test(arguments: ByteStoreKind.allCases)
    func `a sync is due after a step, and makes its bytes durable`(kind: ByteStoreKind) async throws {
        var generator = SeededGenerator(seed: 6)
        let contents = AssetFiles.contents(5_000, using: &generator)
        let place = try await kind.make()
        let upload = Self.upload(contents, in: place)
        #expect(await upload.recovered() == .success([0]))
        let (_, before) = await upload.executed(.appends(contents[..<900]))
        #expect(before.syncDue == nil && before.durable.last?.bytes == 0)
        let (_, later) = await upload.executed(.appends(contents[900..<950]), isSyncDue: true)
        #expect(later.syncDue == 0)
        let (_, step) = await upload.executed(.appends(contents[950..<1_100]))
        #expect(step.syncDue == 0)
        let durable = try await upload.synced(0)
        #expect((1_000...1_100).contains(durable.bytes) && !durable.isMoreDue)
        let (_, after) = await upload.executed(.appends(contents[1_100..<1_200]))
        #expect(after.syncDue == nil && after.durable.last?.bytes == durable.bytes)
        try await Self.complete(contents, from: 1_200, by: upload, in: place)
        await place.store.shutdown()
    }

    @Test(arguments: ByteStoreKind.allCases)
    func `calls are executed in the order in which they were made`(kind: ByteStoreKind) async throws {
        var generator = SeededGenerator(seed: 7)
        let contents = AssetFiles.contents(3_000, using: &generator)
        let place = try await kind.make()
        let upload = Self.upload(contents, in: place)
        #expect(await upload.recovered() == .success([0]))
        let log = Mutex<[String]>([])
        for start in stride(from: 0, to: 2_000, by: 500) {
            upload.execute(.appends(contents[start..<start + 500]), isSyncDue: false) { event in
                guard case .executed(let outcome) = event, outcome.failure == nil else { return }
                log.withLock { $0.append("\(start)") }
            }
        }
        // Bytes that came last are kept, and what would finish the asset is left to another upload.
        await upload.closed(after: .appends(contents[2_000...]) + [.finish(item: 0)])
        #expect(log.withLock { $0 } == ["0", "500", "1000", "1500"])
        let second = Self.upload(contents, in: place)
        let offset = try #require(try await second.recovered().get().first)
        #expect(offset >= 2_000)
        try await Self.complete(contents, from: offset, by: second, in: place)
        await place.store.shutdown()
    }

    @Test(arguments: ByteStoreKind.allCases)
    func `an upload may be closed while it recovers`(kind: ByteStoreKind) async throws {
        let contents = [UInt8](repeating: 7, count: 12 << 20)
        let place = try await kind.make(stepBytes: 4 << 20)
        let first = Self.upload(contents, in: place)
        #expect(await first.recovered() == .success([0]))
        let (_, outcome) = await first.executed([.append(item: 0, pieces: [ByteBuffer(bytes: contents)])])
        #expect(outcome.failure == nil)
        await first.closed()
        let second = Self.upload(contents, in: place)
        let recovered = Mutex<[Result<[Int64], UploadFailure>]>([])
        second.recover(progress: { _ in }) { result in recovered.withLock { $0.append(result) } }
        await second.closed()
        let third = Self.upload(contents, in: place)
        let offset = try #require(try await third.recovered().get().first)
        try await Self.complete(contents, from: offset, by: third, in: place)
        await place.store.shutdown()
        let results = recovered.withLock { $0 }
        let ended = UploadFailure(item: 0, .failed(.ended))
        #expect(results == [.success([12 << 20])] || results == [.failure(ended)], "\(kind)")
    }

    @Test(arguments: ByteStoreKind.allCases)
    func `bytes behind an append that failed, or that was closed, are not taken`(
        kind: ByteStoreKind
    ) async throws {
        var generator = SeededGenerator(seed: 8)
        let contents = AssetFiles.contents(5_000, using: &generator)
        let place = try await kind.make()
        let upload = Self.upload(contents, in: place)
        #expect(await upload.recovered() == .success([0]))
        _ = await upload.executed(.appends(contents[..<1_000]))
        place.setFailing(true)
        let (_, failed) = await upload.executed(.appends(contents[1_000..<1_500]))
        guard case .failed(.failed)? = failed.failure?.reason else {
            Issue.record("the append did not fail: \(failed)")
            return
        }
        place.setFailing(false)
        let ended = UploadFailure(item: 0, .failed(.ended))
        #expect(await upload.executed(.appends(contents[1_500..<2_000])).1.failure == ended)
        await upload.closed(after: .appends(contents[1_500..<2_000]))
        #expect(await upload.executed(.appends(contents[1_000..<2_000])).1.failure == ended)
        let second = Self.upload(contents, in: place)
        let offset = try #require(try await second.recovered().get().first)
        #expect(offset <= 1_000)
        try await Self.complete(contents, from: offset, by: second, in: place)
        await place.store.shutdown()
    }

    @Test(arguments: ByteStoreKind.allCases)
    func `an upload is refused while there is no room`(kind: ByteStoreKind) async throws {
        var generator = SeededGenerator(seed: 9)
        let contents = AssetFiles.contents(5_000, using: &generator)
        let place = try await kind.make()
        place.setFull(true)
        let refused = Self.upload(contents, in: place)
        #expect(await refused.recovered() == .failure(UploadFailure(item: 0, .failed(.full))))
        await refused.closed()
        place.setFull(false)
        let upload = Self.upload(contents, in: place)
        #expect(await upload.recovered() == .success([0]))
        try await Self.complete(contents, from: 0, by: upload, in: place)
        await place.store.shutdown()
    }

    @Test(arguments: ByteStoreKind.allCases)
    func `an item that is discarded leaves nothing, and the others go on`(
        kind: ByteStoreKind
    ) async throws {
        var generator = SeededGenerator(seed: 10)
        let contents = AssetFiles.contents(5_000, using: &generator)
        let place = try await kind.make()
        let upload = place.store.upload([
            UploadItem(number: Self.number, asset: AssetFiles.asset(contents)),
            UploadItem(number: AssetNumber(rawValue: 7), asset: AssetFiles.asset([1])),
        ])
        #expect(await upload.recovered() == .success([0, 0]))
        _ = await upload.executed(.appends(contents[..<3_000]))
        _ = try await upload.synced(0)
        await upload.discarded(0)
        #expect(try await place.store.numbers() == [])
        let ended = UploadFailure(item: 0, .failed(.ended))
        #expect(await upload.executed(.appends(contents[3_000..<4_000])).1.failure == ended)
        let (finished, _) = await upload.executed(.appends([1], to: 1) + [.finish(item: 1)])
        #expect(finished == [1])
        await upload.closed()
        #expect(try await place.store.numbers() == [AssetNumber(rawValue: 7)])
        await place.store.shutdown()
    }
}
