import FileIO
import NIOCore
import RecordModel
import WireProtocol

/// An upload while its request lives: which pieces are read, and which wait to be sent.
///
/// Lives on the session's event loop. Threads read some pieces at a time; at most eight are in
/// memory.
final class UploadTransfer {
    private static let piecesMax = 8
    /// Of one read.
    private static let readPiecesMax = 4

    let upload: AssetUpload
    /// Rises whenever the request is sent: pieces that were read for another stream are of no use.
    private(set) var attempt = 0
    private var stream: UInt32 = 0
    /// The place of the next byte to read; `nil` if the server has not said where to begin.
    private var next: AssetOffset?
    private var offsets: [Int64] = []
    private var isReading = false
    private var ready = CircularBuffer<AssetPiece>()

    private let buffers: BufferPool

    init(_ upload: AssetUpload, _ buffers: BufferPool) {
        self.upload = upload
        self.buffers = buffers
    }

    var operation: Operation {
        .uploadAssets(
            UploadAssets(scope: self.upload.scope, assets: self.upload.assets, zone: self.upload.zone)
        )
    }

    /// Whether a piece waits to be sent.
    var isReady: Bool { !self.ready.isEmpty }

    /// The request was sent on a stream.
    func began(on stream: UInt32) {
        self.attempt += 1
        self.stream = stream
        self.next = nil
        self.isReading = false
        self.ready = []
    }

    func offsetsReceived(_ offsets: [Int64]) {
        self.offsets = offsets
        self.next = AssetOffset(item: 0, offset: offsets.first ?? 0)
    }

    func takePiece() -> AssetPiece? { self.ready.popFirst() }

    /// What to read now; then `piecesRead` is to be told of it.
    func read() -> (@Sendable () throws(FileFailure) -> [AssetPiece])? {
        guard !self.isReading, self.ready.count + Self.readPiecesMax <= Self.piecesMax else { return nil }
        var wanted: [(place: AssetOffset, bytes: Int)] = []
        while wanted.count < Self.readPiecesMax, let piece = self.takeNext() { wanted.append(piece) }
        guard !wanted.isEmpty else { return nil }
        self.isReading = true
        let (upload, stream, pieces, buffers) = (self.upload, self.stream, wanted, self.buffers)
        return { () throws(FileFailure) in
            var read: [AssetPiece] = []
            for piece in pieces {
                read.append(
                    try AssetPiece(of: upload, at: piece.place, bytes: piece.bytes, for: stream, buffers)
                )
            }
            return read
        }
    }

    func piecesRead(_ pieces: [AssetPiece]) {
        self.isReading = false
        self.ready.append(contentsOf: pieces)
    }

    private func takeNext() -> (place: AssetOffset, bytes: Int)? {
        self.skipFinished()
        guard let place = self.next, place.item < self.upload.assets.count else { return nil }
        let left = self.upload.assets[place.item].size - place.offset
        let bytes = Int(min(left, Int64(AssetPiece.bytesMax)))
        self.next?.offset += Int64(bytes)
        return (place, bytes)
    }

    private func skipFinished() {
        while let place = self.next, place.item < self.upload.assets.count,
            place.offset >= self.upload.assets[place.item].size
        {
            let item = place.item + 1
            self.next = AssetOffset(item: item, offset: item < self.offsets.count ? self.offsets[item] : 0)
        }
    }
}
