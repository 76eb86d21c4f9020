import NIOCore
import RecordModel
import WireProtocol

/// An upload while its request lives: which pieces are read, and which wait to be sent.
///
/// Lives on the session's event loop; pieces are read on threads, one at a time, and two at most are in memory.
final class UploadTransfer {
    private static let piecesMax = 2

    let upload: AssetUpload
    /// Rises whenever the request is sent: pieces that were read for another stream are of no use.
    private(set) var attempt = 0
    private var stream: UInt32 = 0
    /// The place of the next byte to read; `nil`: the server has not said where to begin.
    private var next: AssetPlace?
    private var offsets: [Int64] = []
    private var isReading = false
    private var ready = CircularBuffer<AssetPiece>()

    init(_ upload: AssetUpload) {
        self.upload = upload
    }

    var operation: Operation {
        .uploadAssets(UploadAssets(scope: self.upload.scope, assets: self.upload.assets))
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
        self.next = AssetPlace(item: 0, offset: offsets.first ?? 0)
    }

    func takePiece() -> AssetPiece? { self.ready.popFirst() }

    /// What to read now; then `pieceRead` is to be told of it.
    func read() -> (@Sendable () throws(FileFailure) -> AssetPiece)? {
        self.skipFinished()
        guard !self.isReading, self.ready.count < Self.piecesMax, let place = self.next,
            place.item < self.upload.assets.count
        else { return nil }
        let left = self.upload.assets[place.item].size - place.offset
        let bytes = Int(min(left, Int64(AssetPiece.bytesMax)))
        self.isReading = true
        self.next?.offset += Int64(bytes)
        let (upload, stream) = (self.upload, self.stream)
        return { () throws(FileFailure) in
            try AssetPiece(of: upload, at: place, bytes: bytes, for: stream)
        }
    }

    func pieceRead(_ piece: AssetPiece) {
        self.isReading = false
        self.ready.append(piece)
    }

    private func skipFinished() {
        while let place = self.next, place.item < self.upload.assets.count,
            place.offset >= self.upload.assets[place.item].size
        {
            let item = place.item + 1
            self.next = AssetPlace(item: item, offset: item < self.offsets.count ? self.offsets[item] : 0)
        }
    }
}
