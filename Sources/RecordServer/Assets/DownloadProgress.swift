import RecordModel
import StorageContract
import WireProtocol

/// The next bytes of a download: its ranges in order, one piece at a time.
///
/// Pure.
struct DownloadProgress: Hashable, Sendable {
    /// Bytes of a piece, one frame each: half the frame limit, so that small responses wait less
    /// between two pieces.
    static let pieceBytesMax = Bounds.assetDataBytesMax / 2

    struct Piece: Hashable, Sendable {
        var item: UInt32
        var number: AssetNumber
        var offset: Int64
        var count: Int
    }

    private struct Part: Hashable, Sendable {
        var number: AssetNumber
        var next: Int64
        var end: Int64
        /// The hash of the asset, if all of it is read; a part of it has none that could be compared.
        var sha256: [UInt8]?
    }

    private var parts: [Part]
    private var current = 0
    private(set) var sentBytes: Int64 = 0
    /// Bytes that were taken and not yet sent.
    private(set) var takenBytes = 0
    let totalBytes: Int64

    /// - Throws: The index of the first range that begins beyond the end of its asset.
    init(ranges: [AssetRange], assets: [StoredAsset]) throws(RangeInvalid) {
        var parts: [Part] = []
        for (item, (range, stored)) in zip(ranges, assets).enumerated() {
            let rest = stored.asset.size - range.offset
            guard rest >= 0 else { throw RangeInvalid(item: item) }
            let end = range.offset + min(rest, range.length ?? rest)
            let isWhole = range.offset == 0 && end == stored.asset.size
            let sha256 = isWhole ? stored.asset.sha256 : nil
            parts.append(Part(number: stored.number, next: range.offset, end: end, sha256: sha256))
        }
        self.parts = parts
        self.totalBytes = parts.reduce(0) { $0 + ($1.end - $1.next) }
        self.advance()
    }

    /// Whether every piece was taken.
    var isTaken: Bool { self.current == self.parts.count }

    /// Whether every byte was sent.
    var isSent: Bool { self.sentBytes == self.totalBytes }

    /// Takes pieces of one asset to read and send next: at least one, if any is left, then more
    /// while they begin within `bytes`, headers included.
    mutating func take(upTo bytes: Int64, pieceBytesMax: Int = Self.pieceBytesMax) -> [Piece] {
        var pieces: [Piece] = []
        var counted: Int64 = 0
        while self.current < self.parts.count, counted < max(bytes, 1) {
            let part = self.parts[self.current]
            guard pieces.last.map({ $0.item == UInt32(self.current) }) ?? true else { break }
            let piece = Piece(
                item: UInt32(self.current),
                number: part.number,
                offset: part.next,
                count: Int(min(Int64(pieceBytesMax), part.end - part.next))
            )
            pieces.append(piece)
            counted += Int64(AssetData.headerBytes + piece.count)
            self.takenBytes += AssetData.headerBytes + piece.count
            self.parts[self.current].next += Int64(piece.count)
            self.advance()
        }
        return pieces
    }

    /// Bytes of a range that were not taken.
    func restBytes(of item: UInt32) -> Int64 { self.parts[Int(item)].end - self.parts[Int(item)].next }

    /// The hash of the asset that a range is all of; `nil` if it is a part.
    func sha256(of item: UInt32) -> [UInt8]? { self.parts[Int(item)].sha256 }

    /// Notes that a piece was sent.
    mutating func sent(_ piece: Piece) {
        self.sentBytes += Int64(piece.count)
        self.takenBytes -= AssetData.headerBytes + piece.count
    }

    private mutating func advance() {
        while self.current < self.parts.count, self.parts[self.current].next == self.parts[self.current].end {
            self.current += 1
        }
    }

    struct RangeInvalid: Error, Hashable {
        let item: Int
    }
}
