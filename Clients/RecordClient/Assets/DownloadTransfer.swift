import NIOCore
import RecordModel
import WireProtocol

/// A download while its request lives: what has come, and what of it waits to be written.
///
/// Lives on the session's event loop; bytes are written on threads, in order, all that wait at a time. What waits is bounded by the window of
/// the stream: it is granted anew as bytes are written.
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
    /// The first byte that nobody was given, as an index of `parts` and a place in the asset.
    private var handed: AssetPlace
    private var handedBytes: Int64 = 0
    private var received: AssetPlace
    /// Where the current stream begins.
    private var begun: AssetPlace
    private var begunBytes: Int64 = 0
    private var waiting: [Piece] = []
    private(set) var waitingBytes = 0
    private(set) var isWriting = false
    /// What waits is to be written at the end of the tick.
    var isDue = false
    /// Whether bytes that came are still to be written.
    var isBehind: Bool { self.isWriting || !self.waiting.isEmpty }
    /// The stream on which what waits came.
    private(set) var key: StreamKey?
    /// How the request ends when all is written.
    var end: End?

    init(_ download: AssetDownload) {
        self.download = download
        self.parts = download.parts.enumerated().filter { !$0.element.range.isEmpty }
            .map { ($0.offset, $0.element) }
        self.totalBytes = self.parts.reduce(0) { $0.addingSaturating(Int64($1.part.range.count)) }
        self.handed = AssetPlace(item: 0, offset: self.parts.first?.part.range.lowerBound ?? 0)
        self.received = self.handed
        self.begun = self.handed
    }

    /// What is still to come, on the stream that is opened next.
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
        self.waiting = []
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
        self.received = self.place(
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

    /// What to write now; then `written` is to be told of it.
    func takeWaiting() -> [Piece] {
        guard !self.isWriting, !self.waiting.isEmpty else { return [] }
        defer {
            self.waiting = []
            self.waitingBytes = 0
        }
        self.isWriting = true
        self.handed = self.received
        self.handedBytes += Int64(self.waitingBytes)
        return self.waiting
    }

    func written() { self.isWriting = false }

    private func place(after offset: Int64, of item: Int) -> AssetPlace {
        guard offset == self.parts[item].part.range.upperBound else {
            return AssetPlace(item: item, offset: offset)
        }
        let next = item + 1
        return AssetPlace(
            item: next,
            offset: next < self.parts.count ? self.parts[next].part.range.lowerBound : 0
        )
    }
}

extension DownloadTransfer.Piece {
    /// Writes the bytes; on a thread for files.
    func write(to download: AssetDownload) throws(FileFailure) {
        var failure: FileFailure?
        // SAFETY: the memory is used within the call only.
        self.bytes.withUnsafeReadableBytes { memory in
            do throws(FileFailure) {
                try download.write(self.part, self.offset, memory)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Hands the bytes over to make a digest of them; on a thread for files.
    func digest(for download: AssetDownload) {
        // SAFETY: the memory is used within the call only.
        self.bytes.withUnsafeReadableBytes { download.digest?(self.part, $0) }
    }
}
