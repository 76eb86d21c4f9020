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
    /// The position of the next byte to read; `nil` if the server has not said where to begin.
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

    /// The pieces to read now, and then to hand to `piecesRead`.
    func read() -> (@Sendable () throws(FileFailure) -> [AssetPiece])? {
        guard !self.isReading, self.ready.count + Self.readPiecesMax <= Self.piecesMax else { return nil }
        var wanted: [(position: AssetOffset, bytes: Int)] = []
        while wanted.count < Self.readPiecesMax, let piece = self.takeNext() { wanted.append(piece) }
        guard !wanted.isEmpty else { return nil }
        self.isReading = true
        let (upload, stream, pieces, buffers) = (self.upload, self.stream, wanted, self.buffers)
        return { () throws(FileFailure) in
            var read: [AssetPiece] = []
            for piece in pieces {
                read.append(
                    try AssetPiece(of: upload, at: piece.position, bytes: piece.bytes, for: stream, buffers)
                )
            }
            return read
        }
    }

    func piecesRead(_ pieces: [AssetPiece]) {
        self.isReading = false
        self.ready.append(contentsOf: pieces)
    }

    private func takeNext() -> (position: AssetOffset, bytes: Int)? {
        self.skipFinished()
        guard let position = self.next, position.item < self.upload.assets.count else { return nil }
        let left = self.upload.assets[position.item].size - position.offset
        let bytes = Int(min(left, Int64(AssetPiece.bytesMax)))
        self.next?.offset += Int64(bytes)
        return (position, bytes)
    }

    private func skipFinished() {
        while let position = self.next, position.item < self.upload.assets.count,
            position.offset >= self.upload.assets[position.item].size
        {
            let item = position.item + 1
            self.next = AssetOffset(item: item, offset: item < self.offsets.count ? self.offsets[item] : 0)
        }
    }
}
