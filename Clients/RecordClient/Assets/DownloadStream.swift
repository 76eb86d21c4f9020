import NIOCore
import WireProtocol

/// The stream of a `download_assets`, and what the server may send on it.
///
/// These bugs of the server close the connection: bytes at another offset than the next or beyond
/// the requested range, progress that goes back or is ahead of the received bytes, and an end
/// without a failure before all bytes have come.
///
/// - Source: `Protocol/README.md`, section 5.12.
struct DownloadStream: Hashable {
    /// Not empty, each.
    private let ranges: [Range<Int64>]
    private let totalBytes: Int64
    private var next: AssetOffset
    private var receivedBytes: Int64 = 0
    private var doneBytes: Int64 = 0

    init(_ ranges: [Range<Int64>]) {
        self.ranges = ranges
        self.totalBytes = ranges.reduce(0) { $0.addingSaturating($1.upperBound - $1.lowerBound) }
        self.next = AssetOffset(item: 0, offset: ranges.first?.lowerBound ?? 0)
    }

    /// Whether the server may end the stream without a failure.
    var isReceived: Bool { self.next.item == self.ranges.count }

    mutating func received(_ data: AssetData) throws(Violation) {
        let bytes = Int64(data.bytes.readableBytes)
        guard !self.isReceived, Int(data.item) == self.next.item, data.offset == self.next.offset,
            bytes <= self.ranges[self.next.item].upperBound - data.offset
        else { throw .assetDataOutOfTurn }
        self.receivedBytes += bytes
        self.next.offset += bytes
        if self.next.offset == self.ranges[self.next.item].upperBound {
            let item = self.next.item + 1
            let offset = item < self.ranges.count ? self.ranges[item].lowerBound : 0
            self.next = AssetOffset(item: item, offset: offset)
        }
    }

    mutating func progressReceived(_ progress: Progress) throws(Violation) {
        guard progress.totalBytes == self.totalBytes, progress.doneBytes >= self.doneBytes,
            progress.doneBytes <= self.receivedBytes
        else { throw .progressMisfit }
        self.doneBytes = progress.doneBytes
    }
}
