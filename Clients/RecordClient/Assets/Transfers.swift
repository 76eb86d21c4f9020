import FileIO
import NIOCore
import RecordModel
import WireProtocol

/// The uploads and downloads of a session: files on threads, and their bytes on the streams of the
/// requests.
///
/// Small requests go on beside them. A piece is sent only when the socket has taken what was
/// written before, and uploads take turns, one piece each. When a connection breaks, the request
/// is sent again. An upload then begins where the server says, and a download behind the last byte
/// that was handed over to be written.
///
/// Lives on the session's event loop.
final class Transfers {
    /// Bytes that one job writes at most for several downloads.
    ///
    /// Larger batches get jobs of their own, which run beside each other.
    private static let sharedBytesMax = 128 * 1_024

    /// A batch that a thread has, and the download it belongs to.
    private struct Write {
        let request: PendingRequest
        let download: DownloadTransfer
        /// The stream on which its bytes came.
        let key: StreamKey?
        let batch: DownloadBatch
        let isSmall: Bool
    }

    /// The owner, which outlives this.
    private unowned let session: ClientSession
    private let files: FileThreads
    let buffers = BufferPool()
    /// Uploads on streams, in the order of their turns.
    ///
    /// Some may have ended since; they are left out when their turn comes.
    private var uploads = CircularBuffer<PendingRequest>()
    private var isSendingPieces = false
    private var downloadWindow = DownloadWindow()
    /// Downloads with bytes that are to be written at the end of this tick.
    private var due: [PendingRequest] = []

    init(of session: ClientSession, files: FileThreads) {
        self.session = session
        self.files = files
    }

    /// Makes the request of a transfer, which is still to be started.
    func request(
        _ number: UInt64,
        _ transfer: Mailbox.Transfer,
        _ timeouts: Timeouts,
        now: NIODeadline
    ) -> PendingRequest {
        let held: PendingRequest.Transfer
        let operation: Operation
        switch transfer.bytes {
        case .upload(let upload):
            let transfer = UploadTransfer(upload, self.buffers)
            held = .upload(transfer)
            operation = transfer.operation
        case .download(let download):
            let transfer = DownloadTransfer(download, on: self.files)
            held = .download(transfer)
            operation = transfer.operation
        }
        return PendingRequest(
            number: number,
            operation: operation,
            transfer: held,
            timeouts: timeouts,
            receiver: .callbacks(items: { _ in }, end: transfer.end),
            now: now
        )
    }

    /// A request was sent on a stream.
    func requestSent(_ request: PendingRequest, on key: StreamKey, now: NIODeadline) {
        switch request.transfer {
        case .upload(let upload):
            upload.began(on: key.stream)
            if !self.uploads.contains(where: { $0 === request }) { self.uploads.append(request) }
        case .download(let download): download.began(on: key)
        case nil: self.downloadWindow.requestSent(now: now)
        }
    }

    // MARK: Messages of the server

    func assetOffsetsReceived(_ offsets: AssetOffsets, on key: StreamKey) {
        self.session.noteActivity(on: key)
        guard let request = self.session.requests.request(on: key),
            case .upload(let upload) = request.transfer
        else { return }
        upload.offsetsReceived(offsets.offsets)
        self.readAhead(request, upload)
    }

    func progressReceived(_ progress: Progress, on key: StreamKey) {
        self.session.noteActivity(on: key)
        switch self.session.requests.request(on: key)?.transfer {
        case .upload(let upload): upload.upload.progress(progress)
        case .download(let download): download.download.progress(download.progress(progress))
        case nil: break
        }
    }

    func assetDataReceived(_ data: AssetData, on key: StreamKey) {
        self.session.noteActivity(on: key)
        // A cancelled download grants nothing more, so its bytes stop coming.
        guard let request = self.session.requests.request(on: key),
            case .download(let download) = request.transfer
        else { return }
        download.received(data)
        self.writeSoon(request, download)
    }

    // MARK: Uploads

    /// Sends pieces that were read, one of each upload in turn, as far as server and socket have
    /// room.
    func sendPieces() {
        guard !self.isSendingPieces else { return }
        self.isSendingPieces = true
        defer { self.isSendingPieces = false }
        var passed = 0
        while passed < self.uploads.count {
            let request = self.uploads.removeFirst()
            guard !request.hasEnded, case .sent(let key) = request.phase,
                case .upload(let upload) = request.transfer,
                let connection = self.session.connection(key.connection)
            else { continue }
            self.uploads.append(request)
            guard upload.isReady, connection.mayUpload(on: key.stream), let piece = upload.takePiece() else {
                passed += 1
                continue
            }
            passed = 0
            connection.send(piece, on: key.stream)
            // TLS has encrypted it by now.
            self.buffers.giveBack(piece.frame)
            self.readAhead(request, upload)
        }
    }

    private func readAhead(_ request: PendingRequest, _ upload: UploadTransfer) {
        guard !request.hasEnded, let read = upload.read() else { return }
        let attempt = upload.attempt
        self.onThread(request, read) { transfers, request, result in
            transfers.piecesRead(result, request, upload: attempt)
        }
    }

    private func piecesRead(
        _ result: Result<[AssetPiece], FileFailure>,
        _ request: PendingRequest,
        upload attempt: Int
    ) {
        guard !request.hasEnded, case .upload(let upload) = request.transfer, upload.attempt == attempt
        else { return }
        switch result {
        case .success(let pieces):
            upload.piecesRead(pieces)
            self.readAhead(request, upload)
            self.sendPieces()
        case .failure(let failure): self.fail(request, failure)
        }
        self.session.flush()
    }

    // MARK: Downloads

    /// Writes at the end of the tick, so that small files that come together are written together.
    private func writeSoon(_ request: PendingRequest, _ download: DownloadTransfer) {
        guard !download.isDue else { return }
        download.isDue = true
        self.due.append(request)
        guard self.due.count == 1 else { return }
        let held = NIOLoopBound((session: self.session, transfers: self), eventLoop: self.eventLoop)
        self.eventLoop.execute { held.value.transfers.writeDue() }
    }

    private func writeDue() {
        let due = self.due
        self.due = []
        var small: [Write] = []
        var bytes = 0
        for request in due {
            guard case .download(let download) = request.transfer else { continue }
            download.isDue = false
            guard !request.hasEnded else { continue }
            guard download.isSmall else {
                self.write(request, download)
                continue
            }
            if bytes + download.waitingBytes > Self.sharedBytesMax {
                self.write(small)
                small = []
                bytes = 0
            }
            bytes += download.waitingBytes
            guard let batch = download.takeSmall() else { continue }
            small.append(
                Write(request: request, download: download, key: download.key, batch: batch, isSmall: true)
            )
        }
        self.write(small)
    }

    /// Writes small batches in one job, one download after the other.
    private func write(_ writes: [Write]) {
        guard !writes.isEmpty else { return }
        let batches = writes.map(\.batch)
        let held = NIOLoopBound((session: self.session, writes: writes), eventLoop: self.eventLoop)
        self.files.run {
            let results = batches.map { $0.run() }
            held.eventLoop.execute {
                let (session, writes) = held.value
                for (write, result) in zip(writes, results) { session.transfers.written(result, write) }
                session.flush()
            }
        }
    }

    /// Writes in jobs of the download's own.
    private func write(_ request: PendingRequest, _ download: DownloadTransfer) {
        download.write { [session = self.session] batch in
            let write = Write(
                request: request,
                download: download,
                key: download.key,
                batch: batch,
                isSmall: false
            )
            let held = NIOLoopBound((session: session, write: write), eventLoop: session.eventLoop)
            return { result in
                held.eventLoop.execute {
                    let (session, write) = held.value
                    session.transfers.written(result, write)
                    session.flush()
                }
            }
        }
    }

    private func written(_ result: Result<Void, FileFailure>, _ write: Write) {
        let (request, download) = (write.request, write.download)
        for piece in write.batch.pieces { self.buffers.giveBack(piece.bytes) }
        download.written(result, isSmall: write.isSmall)
        guard !request.hasEnded else { return }
        guard download.failure == nil else {
            if let failure = download.settledFailure { self.fail(request, failure) }
            return
        }
        let now = self.eventLoop.now
        request.silenceDeadline = now + request.requestTimeout
        if let key = write.key {
            // The server may send as many more.
            self.session.connection(key.connection)?.disposed(
                payloadBytes: write.batch.payloadBytes,
                on: key.stream,
                window: self.downloadWindow.bytes(downloads: self.session.requests.downloadCount, now: now)
            )
        }
        if download.waitingBytes > 0 {
            self.writeSoon(request, download)
        } else if !download.isBehind, let end = download.end {
            self.session.end(request.number, .success(end))
        }
    }

    /// The server has sent all of a download, or a connection broke just before the server said so.
    func downloadAnswered(_ request: PendingRequest, _ download: DownloadTransfer, _ end: End) {
        guard download.isBehind else { return self.session.end(request.number, .success(end)) }
        download.end = end
        self.session.requests.detach(request)
    }

    // MARK: Files

    private var eventLoop: any EventLoop { self.session.eventLoop }

    private func fail(_ request: PendingRequest, _ failure: FileFailure) {
        guard self.session.requests.remove(request.number) != nil else { return }
        self.session.cancelStream(of: request)
        request.end(.failure(.fileFailed(failure)))
    }

    /// Runs a job on a thread for files, and the rest back on the loop.
    private func onThread<Value: Sendable>(
        _ request: PendingRequest,
        _ job: @escaping @Sendable () throws(FileFailure) -> Value,
        then: @escaping @Sendable (Transfers, PendingRequest, Result<Value, FileFailure>) -> Void
    ) {
        let eventLoop = self.eventLoop
        let held = NIOLoopBound((session: self.session, request: request), eventLoop: eventLoop)
        self.files.run {
            let result: Result<Value, FileFailure>
            do throws(FileFailure) { result = .success(try job()) } catch { result = .failure(error) }
            eventLoop.execute { then(held.value.session.transfers, held.value.request, result) }
        }
    }
}
