import AssetStorage
import FileIO
import Logging
import NIOCore
import RecordModel
import RecordStore
import StorageContract
import Transport
import WireProtocol

/// The downloads of a connection: carries out the decisions of their state machines.
///
/// Pieces are read ahead while the stream's window and the connection's memory share have room, one
/// frame each, round robin. Used on the connection's event loop.
final class ConnectionDownloads {
    /// Bytes that TLS encrypts at a time: with overhead, two records that fit the buffer which
    /// `TLSSetup` keeps.
    private static let writtenBytesMax = 32 * 1_024 - 128

    let connection: Connection
    let server: ServerContext
    private let responses: ConnectionResponses
    private var downloads = StreamTable<Download>()
    var queue = DownloadQueue()
    private var isWritingPieces = false
    /// Reads begin at the end of this tick, for all downloads that have arrived by then.
    private var isReadDue = false

    init(_ connection: Connection, server: ServerContext, responses: ConnectionResponses) {
        self.connection = connection
        self.server = server
        self.responses = responses
        connection.flushPromise = { self.flushed() }
    }

    /// `nil` if the stream is no active download.
    subscript(stream: UInt32) -> Download? { self.downloads[stream] }

    /// Executes a request.
    func start(_ request: AdmittedDownload, for response: Response) {
        guard !self.connection.machine.isDraining else {
            return self.responses.end(response.stream, failure: Failure(StoreError.shuttingDown))
        }
        let download = Download(request, for: response, now: self.connection.eventLoop.now)
        if self.downloads.isEmpty { self.server.downloads(true) }
        self.downloads[download.stream] = download
        let back = LoopReturn(self, of: self.connection)
        let stream = download.stream
        self.server.store.locateAssets(
            request.ranges.map(\.sha256),
            of: request.record,
            for: request.requester
        ) { result in
            back { $0.located(stream, result) }
        }
    }

    private func located(_ stream: UInt32, _ result: Result<[StoredAsset], StoreError>) {
        guard let download = self.downloads[stream] else { return }
        guard self.server.clock() < download.deadlineMilliseconds else {
            return self.end(stream, failure: Failure(StoreError.deadlinePassed))
        }
        switch result {
        case .failure(let error):
            self.end(stream, failure: Failure(asset: error))
        case .success(let assets):
            download.located = assets.map(\.number)
            self.server.store.assets.beginReading(download.located)
            let action: DownloadStateMachine.OnSent
            do throws(DownloadProgress.RangeInvalid) {
                action = try download.machine.located(download.request.ranges, of: assets)
            } catch {
                return self.end(stream, failure: .rangeInvalid(item: error.item))
            }
            self.watch(download)
            self.queue.ready.append(stream)
            self.perform(action, of: download)
            self.readSoon()
        }
    }

    /// Schedules reads for the end of the tick, so that small files requested together are read
    /// together.
    private func readSoon() {
        guard !self.isReadDue else { return }
        self.isReadDue = true
        let soon = LoopReturn(self, of: self.connection)
        soon { downloads in
            downloads.isReadDue = false
            downloads.send()
        }
    }

    private func perform(_ action: DownloadStateMachine.OnSent, of download: Download) {
        switch action {
        case .goOn: break
        case .tell(let doneBytes, let totalBytes):
            self.connection.writeProgress(doneBytes, of: totalBytes, on: download.stream)
        case .finish(let totalBytes):
            self.connection.writeProgress(totalBytes, of: totalBytes, on: download.stream)
            self.end(download.stream, failure: nil)
        }
    }

    // MARK: - Ends

    /// Ends a download; does nothing if the stream has none.
    func end(_ stream: UInt32, failure: Failure?) {
        guard let download = self.downloads.removeValue(of: stream) else { return }
        self.release(download)
        if self.downloads.isEmpty { self.server.downloads(false) }
        self.responses.finish(stream, with: failure.map { End(failure: $0) } ?? End())
    }

    /// Ends all downloads.
    func endAll(failure: Failure) {
        for download in self.downloads.values { self.end(download.stream, failure: failure) }
    }

    /// Drops all downloads after the connection has closed.
    func removeAll() {
        for download in self.downloads.values { self.release(download) }
        if !self.downloads.isEmpty { self.server.downloads(false) }
        self.downloads = StreamTable()
    }

    private func release(_ download: Download) {
        download.timer?.cancel()
        self.server.store.assets.endReading(download.located)
    }

    // MARK: - Pieces out

    /// Sends pieces that were read, and reads the next ones if there is room.
    func send() {
        self.writePieces()
        self.readPieces()
    }

    /// Writes pieces until the socket is full: responses have priority over the rest.
    private func writePieces() {
        guard !self.isWritingPieces else { return }
        self.isWritingPieces = true
        defer { self.isWritingPieces = false }
        while self.connection.isWritable, let read = self.queue.popFirst() {
            if let download = self.downloads[read.stream] {
                self.write(read, of: download)
            } else {
                self.queue.left(bytes: read.piece.count)
            }
        }
    }

    private func write(_ read: DownloadQueue.ReadPiece, of download: Download) {
        let piece = read.piece
        if read.frame.readableBytes <= Self.writtenBytesMax {
            // A small piece leaves with the other frames of this tick, such as the end of its
            // download.
            self.connection.write(encoded: read.frame, flushingAt: Self.writtenBytesMax)
            self.queue.written(bytes: piece.count)
            self.server.assetBuffers.giveBack(read.frame)
        } else {
            let taken = self.whenTaken(piece.count)
            let buffers = self.server.assetBuffers
            taken.futureResult.assumeIsolated().whenComplete { _ in buffers.giveBack(read.frame) }
            self.connection.write(alone: read.frame, partBytesMax: Self.writtenBytesMax, promise: taken)
        }
        self.connection.machine.assetDataSent(AssetData.headerBytes + piece.count, on: download.stream)
        self.server.metrics.assetBytesSent(piece.count)
        self.connection.watchSocket()
        self.perform(download.machine.sent(piece, now: self.connection.eventLoop.now), of: download)
    }

    /// Flushes the frames of this tick.
    ///
    /// - Returns: A promise for when the socket has taken them; `nil` if they contain no piece.
    private func flushed() -> EventLoopPromise<Void>? {
        let bytes = self.queue.flushed()
        return bytes > 0 ? self.whenTaken(bytes) : nil
    }

    /// Frees the room of these bytes when the promise succeeds.
    private func whenTaken(_ bytes: Int) -> EventLoopPromise<Void> {
        let taken = self.connection.eventLoop.makePromise(of: Void.self)
        taken.futureResult.assumeIsolated().whenComplete { _ in
            self.queue.left(bytes: bytes)
            guard self.connection.isOpen else { return }
            self.send()
            self.connection.flush()
        }
        return taken
    }

    // MARK: - Time

    /// Checks after a delay whether the client has withheld credit for too long.
    private func watch(_ download: Download, in delay: TimeAmount? = nil) {
        let stream = download.stream
        let timeout = TimeAmount(self.server.configuration.assets.timeout)
        let eventLoop = self.connection.eventLoop
        download.timer = eventLoop.assumeIsolated().scheduleTask(in: delay ?? timeout) {
            guard let download = self.downloads[stream] else { return }
            let action = download.machine.timerFired(
                now: eventLoop.now,
                hasCredit: self.connection.machine.assetCredit(on: stream) > 0,
                timeout: timeout
            )
            switch action {
            case .look(let delay): self.watch(download, in: delay)
            case .fail:
                self.end(stream, failure: .transferTimeout)
                self.connection.flush()
            }
        }
    }
}
