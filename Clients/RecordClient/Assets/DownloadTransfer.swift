import FileIO
import NIOCore
import RecordModel
import WireProtocol

/// A download while its request lives: the bytes that have come, and those of them that wait to be
/// written.
///
/// Lives on the session's event loop. Threads write all bytes that wait at a time, in order. The
/// window of the stream bounds the waiting bytes, because credit is granted again only for written
/// bytes.
final class DownloadTransfer {
    /// Bytes that came.
    struct Piece: Sendable {
        var part: Int
        var offset: Int64
        var bytes: ByteBuffer
    }

    let download: AssetDownload
    /// Those that are not empty: an empty range would ask for all to the end.
    private let parts: [(number: Int, part: AssetDownload.Part)]
    private let totalBytes: Int64
    /// The first byte that was not handed over: an index of `parts` and an offset in the asset.
    private var handed: AssetOffset
    private var handedBytes: Int64 = 0
    private var received: AssetOffset
    /// Where the current stream begins.
    private var begun: AssetOffset
    private var begunBytes: Int64 = 0
    private var waiting = CircularBuffer<Piece>()
    private(set) var waitingBytes = 0
    /// Batches that are being written, or will be: one more than threads are at.
    private var batches = 0
    private static let batchesMax = 2
    /// Waiting bytes are to be written at the end of the tick.
    var isDue = false
    /// Whether bytes that came are still to be written.
    var isBehind: Bool { self.batches > 0 || !self.waiting.isEmpty }
    /// The first thing that went wrong with the file.
    private(set) var failure: FileFailure?
    private let writing: FileLane
    private let digesting: FileLane
    /// The stream on which what waits came.
    private(set) var key: StreamKey?
    /// How the request ends when all is written.
    var end: End?

    init(_ download: AssetDownload, on files: FileThreads) {
        self.download = download
        self.writing = FileLane(on: files)
        self.digesting = FileLane(on: files)
        self.parts = download.parts.enumerated().filter { !$0.element.range.isEmpty }
            .map { ($0.offset, $0.element) }
        self.totalBytes = self.parts.reduce(0) { $0.addingSaturating(Int64($1.part.range.count)) }
        self.handed = AssetOffset(item: 0, offset: self.parts.first?.part.range.lowerBound ?? 0)
        self.received = self.handed
        self.begun = self.handed
    }

    /// The missing ranges, for the stream that is opened next.
    var operation: Operation {
        .downloadAssets(
            DownloadAssets(
                scope: self.download.scope,
                record: self.download.record,
                ranges: self.remaining.map { part in
                    AssetRange(
                        sha256: part.asset.sha256,
                        offset: part.range.lowerBound,
                        length: Int64(part.range.count)
                    )
                }
            )
        )
    }

    /// The parts that were not handed over, the first of them from the first byte that was not.
    var remaining: [AssetDownload.Part] {
        guard self.handed.item < self.parts.count else { return [] }
        var parts = self.parts[self.handed.item...].map(\.part)
        parts[0].range = self.handed.offset..<parts[0].range.upperBound
        return parts
    }

    var isComplete: Bool { self.handed.item == self.parts.count }

    /// The request was sent: it asks for what was not handed over, so that what waited comes again.
    func began(on key: StreamKey) {
        self.key = key
        self.waiting.removeAll(keepingCapacity: true)
        self.waitingBytes = 0
        self.received = self.handed
        self.begun = self.handed
        self.begunBytes = self.handedBytes
    }

    /// Bytes came, the next ones of the stream.
    func received(_ data: AssetData) {
        let part = self.parts[self.begun.item + Int(data.item)]
        self.waiting.append(Piece(part: part.number, offset: data.offset, bytes: data.bytes))
        self.waitingBytes += data.bytes.readableBytes
        self.received = self.position(
            after: data.offset + Int64(data.bytes.readableBytes),
            of: self.received.item
        )
    }

    /// All bytes, as far as the current stream has said.
    func progress(_ progress: Progress) -> Progress {
        Progress(
            doneBytes: min(self.begunBytes.addingSaturating(progress.doneBytes), self.totalBytes),
            totalBytes: self.totalBytes
        )
    }

    /// Whether so little is to be written that one thread does it, with that of others.
    var isSmall: Bool { self.batches == 0 && self.waitingBytes < DownloadBatch.sharedBytesMin }

    /// The next piece to write; `nil` if nothing waits.
    ///
    /// The caller calls `written` with it afterwards.
    func takeSmall() -> DownloadBatch? {
        precondition(self.isSmall)
        let batch = self.take()
        // Bytes that come meanwhile are not written beside it.
        if batch != nil { self.batches = Self.batchesMax }
        return batch
    }

    /// Has what waits written, as far as there is room.
    ///
    /// The caller calls `written` with each batch for which `ended` is called.
    func write(ended: (DownloadBatch) -> (@Sendable (Result<Void, FileFailure>) -> Void)) {
        while self.batches < Self.batchesMax, self.failure == nil, let batch = self.take() {
            self.batches += 1
            batch.run(self.writing, self.digesting, ended: ended(batch))
        }
    }

    private func take() -> DownloadBatch? {
        var pieces: [Piece] = []
        var bytes = 0
        while bytes < DownloadBatch.bytesMax, let piece = self.waiting.popFirst() {
            let count = piece.bytes.readableBytes
            self.handed = self.position(after: piece.offset + Int64(count), of: self.handed.item)
            bytes += count
            pieces.append(piece)
        }
        self.handedBytes += Int64(bytes)
        self.waitingBytes -= bytes
        return pieces.isEmpty ? nil : DownloadBatch(pieces, of: self.download)
    }

    /// A batch is through, or the small one.
    func written(_ result: Result<Void, FileFailure>, isSmall: Bool) {
        self.batches = isSmall ? 0 : self.batches - 1
        if case .failure(let failure) = result, self.failure == nil { self.failure = failure }
    }

    /// The failure, when nothing is being written any more.
    var settledFailure: FileFailure? { self.batches == 0 ? self.failure : nil }

    private func position(after offset: Int64, of item: Int) -> AssetOffset {
        guard offset == self.parts[item].part.range.upperBound else {
            return AssetOffset(item: item, offset: offset)
        }
        let next = item + 1
        return AssetOffset(
            item: next,
            offset: next < self.parts.count ? self.parts[next].part.range.lowerBound : 0
        )
    }
}
