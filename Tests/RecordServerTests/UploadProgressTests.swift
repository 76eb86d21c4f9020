import RecordModel
import StorageContract
import Testing

@testable import RecordServer

/// Which bytes come next, up and down.
struct UploadProgressTests {
    private static func asset(_ size: Int64) -> Asset {
        Asset(sha256: [UInt8](repeating: 0, count: 32), size: size)
    }

    private static func expect(
        _ action: UploadProgress.OnData,
        _ expected: UploadProgress.OnData,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(action == expected, sourceLocation: sourceLocation)
    }

    @Test func `bytes come in order, and assets that need none are passed over`() {
        var progress = UploadProgress(assets: [10, 0, 5, 7].map(Self.asset), offsets: [4, 0, 5, 0])
        #expect(progress.totalBytes == 22)
        #expect(progress.durableBytes == 9)
        Self.expect(progress.received(item: 0, offset: 4, count: 5), .write(item: 0, isLast: false))
        Self.expect(progress.received(item: 0, offset: 9, count: 1), .write(item: 0, isLast: true))
        #expect(progress.currentItem == 3)
        Self.expect(progress.received(item: 3, offset: 0, count: 7), .write(item: 3, isLast: true))
        #expect(!progress.wantsBytes)
        progress.becameDurable(item: 3, bytes: 2)
        progress.becameDurable(item: 3, bytes: 1)
        #expect(progress.durableBytes == 11)
        let wasLast = (0..<4).map { progress.completed(item: $0) }
        #expect(wasLast == [false, false, false, true])
        #expect(progress.durableBytes == 22)
    }

    @Test(
        arguments: [(1, 4, 1), (0, 3, 1), (0, 5, 1), (0, 4, 7), (9, 4, 1)] as [(UInt32, Int64, Int)]
    )
    func `other bytes are refused`(item: UInt32, offset: Int64, count: Int) {
        var progress = UploadProgress(assets: [Self.asset(10), Self.asset(10)], offsets: [4, 0])
        Self.expect(progress.received(item: item, offset: offset, count: count), .refuse(item: 0))
    }

    @Test func `bytes behind the last are refused`() {
        var progress = UploadProgress(assets: [Self.asset(1)], offsets: [1])
        Self.expect(progress.received(item: 0, offset: 1, count: 1), .refuse(item: 0))
    }

    @Test func `ranges are sent in their order, in pieces`() throws {
        let most = DownloadProgress.pieceBytesMax
        let stored = [Int64(2 * most), 100].enumerated().map {
            StoredAsset(number: AssetNumber(rawValue: Int64($0 + 1)), asset: Self.asset($1))
        }
        let hash = [UInt8](repeating: 0, count: 32)
        let ranges = [
            AssetRange(sha256: hash, offset: 1), AssetRange(sha256: hash, offset: 100),
            AssetRange(sha256: hash, offset: 90, length: 1_000),
        ]
        var progress = try DownloadProgress(ranges: ranges, assets: [stored[0], stored[1], stored[1]])
        #expect(progress.totalBytes == Int64(2 * most) - 1 + 10)
        var pieces: [DownloadProgress.Piece] = []
        while !progress.isTaken { pieces += progress.take(upTo: .max) }
        #expect(pieces.map(\.item) == [0, 0, 2])
        #expect(pieces.map(\.offset) == [1, Int64(1 + most), 90])
        #expect(pieces.map(\.count) == [most, most - 1, 10])
        #expect(progress.takenBytes == 2 * most + 9 + 3 * 12)
        for piece in pieces {
            #expect(!progress.isSent)
            progress.sent(piece)
        }
        #expect(progress.isSent)
        #expect(progress.sentBytes == progress.totalBytes)
        #expect(progress.takenBytes == 0)
    }

    @Test func `what is taken at a time begins within the bytes that are given, and is of one asset`() throws
    {
        let stored = [Int64(100), 100].enumerated().map {
            StoredAsset(number: AssetNumber(rawValue: Int64($0 + 1)), asset: Self.asset($1))
        }
        let range = AssetRange(sha256: [UInt8](repeating: 0, count: 32))
        var progress = try DownloadProgress(ranges: [range, range], assets: stored)
        // With its header a piece of 30 bytes counts for 42.
        #expect(progress.take(upTo: 1, pieceBytesMax: 30).map(\.count) == [30])
        #expect(progress.take(upTo: 43, pieceBytesMax: 30).map(\.count) == [30, 30])
        #expect(progress.take(upTo: .max, pieceBytesMax: 30).map(\.count) == [10])
        #expect(progress.take(upTo: .max, pieceBytesMax: 30).map(\.offset) == [0, 30, 60, 90])
        #expect(progress.isTaken)
        #expect(progress.take(upTo: .max).isEmpty)
    }

    @Test func `a range that begins behind the end of its asset is refused`() {
        let stored = StoredAsset(number: AssetNumber(rawValue: 1), asset: Self.asset(10))
        let range = AssetRange(sha256: stored.asset.sha256, offset: 11)
        #expect(throws: DownloadProgress.RangeInvalid(item: 0)) {
            _ = try DownloadProgress(ranges: [range], assets: [stored])
        }
    }
}
