import RecordModel
import Transport
import WireProtocol

/// The stream of an `upload_assets`: the bytes that may be sent on it, and the messages that the
/// server may send.
///
/// A bug of ours traps: bytes out of turn. These bugs of the server close the connection: offsets
/// twice, offsets that do not fit the assets, progress that goes back or is ahead of the sent
/// bytes, and an end without a failure before all bytes were sent.
///
/// - Source: `Protocol/README.md`, section 5.12.
struct UploadStream: Hashable {
    private let sizes: [Int64]
    private let totalBytes: Int64
    private var sending = SendWindow(bytes: 0)
    /// The position of the next byte; `nil` if the server has not said where to begin.
    private var next: AssetOffset?
    /// The first byte of each asset that the server does not have.
    private var offsets: [Int64] = []
    /// What the server had, and what was sent.
    private var coveredBytes: Int64 = 0
    private var doneBytes: Int64 = 0

    init(_ assets: [Asset]) {
        self.sizes = assets.map(\.size)
        self.totalBytes = self.sizes.reduce(0) { $0.addingSaturating($1) }
    }

    /// Whether bytes may be sent now.
    var isOpen: Bool { self.next != nil && self.sending.isOpen }

    /// Whether the server may end the stream without a failure.
    var isSent: Bool { self.next.map { $0.item == self.sizes.count } ?? false }

    mutating func offsetsReceived(_ offsets: [Int64]) throws(Violation) {
        guard self.next == nil else { throw .frameUnexpected }
        let coveredBytes = offsets.reduce(Int64(0)) { $0.addingSaturating($1) }
        guard offsets.count == self.sizes.count,
            zip(offsets, self.sizes).allSatisfy({ (0...$1).contains($0) }), coveredBytes >= self.doneBytes
        else { throw .offsetsMisfit }
        self.offsets = offsets
        self.coveredBytes = coveredBytes
        self.next = AssetOffset(item: 0, offset: offsets.first ?? 0)
        self.skipFinished()
    }

    mutating func progressReceived(_ progress: Progress) throws(Violation) {
        // Before the offsets the server counts what it finds.
        let doneBytesMax = self.next == nil ? self.totalBytes : self.coveredBytes
        guard progress.totalBytes == self.totalBytes, progress.doneBytes >= self.doneBytes,
            progress.doneBytes <= doneBytesMax
        else { throw .progressMisfit }
        self.doneBytes = progress.doneBytes
    }

    /// - Returns: Whether the server may grant this.
    mutating func grant(_ bytes: UInt32) -> Bool { self.sending.granted(bytes) }

    /// Notes that bytes of an asset were sent, in a payload of `payloadBytes`.
    mutating func sent(_ position: AssetOffset, bytes: Int, payloadBytes: Int) {
        precondition(position == self.next, "assets are sent in order")
        self.sending.sent(payloadBytes)
        self.coveredBytes += Int64(bytes)
        self.next = AssetOffset(item: position.item, offset: position.offset + Int64(bytes))
        self.skipFinished()
    }

    private mutating func skipFinished() {
        while let position = self.next, position.item < self.sizes.count,
            position.offset == self.sizes[position.item]
        {
            let item = position.item + 1
            self.next = AssetOffset(item: item, offset: item < self.sizes.count ? self.offsets[item] : 0)
        }
    }
}

/// A byte of one of several assets.
struct AssetOffset: Hashable, Sendable {
    var item: Int
    var offset: Int64
}

extension Int64 {
    /// Sizes are a peer's or a caller's word: their sum need not fit.
    func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, hasOverflown) = self.addingReportingOverflow(other)
        return hasOverflown ? .max : sum
    }
}
