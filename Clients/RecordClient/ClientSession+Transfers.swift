import FileIO
import NIOCore
import RecordModel
import WireProtocol

/// Uploads and downloads: files on threads, their bytes on the streams of their requests.
///
/// Small requests go on beside them: a piece is sent only when the socket has taken what was written before, and uploads take turns, a piece
/// each. A connection that breaks sends the request again: an upload begins where the server says, a download after the last byte that was
/// given to be written.
extension ClientSession {
    /// Starts a transfer; one that has nothing to move is over at once.
    func start(_ number: UInt64, _ transfer: Mailbox.Transfer, _ timeouts: Timeouts, now: NIODeadline) {
        let held: PendingRequest.Transfer
        let operation: Operation
        switch transfer.bytes {
        case .upload(let upload):
            let transfer = UploadTransfer(upload, self.assetBuffers)
            held = .upload(transfer)
            operation = transfer.operation
        case .download(let download):
            let transfer = DownloadTransfer(download, on: self.files)
            held = .download(transfer)
            operation = transfer.operation
        }
        self.start(
            PendingRequest(
                number: number,
                operation: operation,
                transfer: held,
                timeouts: timeouts,
                receiver: .callbacks(items: { _ in }, end: transfer.end),
                now: now
            )
        )
    }

    /// The request was sent on a stream.
    func transferBegan(_ request: PendingRequest, on key: StreamKey) {
        switch request.transfer {
        case .upload(let upload):
            upload.began(on: key.stream)
            if !self.uploads.contains(where: { $0 === request }) { self.uploads.append(request) }
        case .download(let download): download.began(on: key)
        case nil: break
        }
    }

    // MARK: What the server says

    /// Something of a request's stream came: its silence is over.
    func heard(on key: StreamKey) {
        guard let request = self.requests.request(on: key) else { return }
        request.silenceDeadline = self.eventLoop.now + request.requestTimeout
    }

    func assetOffsetsReceived(_ offsets: AssetOffsets, on key: StreamKey) {
        self.heard(on: key)
        guard let request = self.requests.request(on: key), case .upload(let upload) = request.transfer
        else { return }
        upload.offsetsReceived(offsets.offsets)
        self.readAhead(request, upload)
    }

    func progressReceived(_ progress: Progress, on key: StreamKey) {
        self.heard(on: key)
        switch self.requests.request(on: key)?.transfer {
        case .upload(let upload): upload.upload.progress(progress)
        case .download(let download): download.download.progress(download.progress(progress))
        case nil: break
        }
    }

    func assetDataReceived(_ data: AssetData, on key: StreamKey) {
        self.heard(on: key)
        // Of a download that was cancelled nothing is granted any more, and so nothing goes on coming.
        guard let request = self.requests.request(on: key), case .download(let download) = request.transfer
        else { return }
        download.received(data)
        self.writeSoon(request, download)
    }

    // MARK: Uploads

    /// Sends pieces that are read, one of each upload in turn, as far as servers and sockets have room.
    func sendPieces() {
        guard !self.isSendingPieces else { return }
        self.isSendingPieces = true
        defer { self.isSendingPieces = false }
        var passed = 0
        while passed < self.uploads.count {
            let request = self.uploads.removeFirst()
            guard !request.hasEnded, case .sent(let key) = request.place,
                case .upload(let upload) = request.transfer,
                let connection = self.connection(key.connection)
            else { continue }
            self.uploads.append(request)
            guard upload.isReady, connection.mayUpload(on: key.stream), let piece = upload.takePiece() else {
                passed += 1
                continue
            }
            passed = 0
            connection.send(piece, on: key.stream)
            // TLS has encrypted it.
            self.assetBuffers.giveBack(piece.frame)
            self.readAhead(request, upload)
        }
    }

    private func readAhead(_ request: PendingRequest, _ upload: UploadTransfer) {
        guard !request.hasEnded, let read = upload.read() else { return }
        let attempt = upload.attempt
        self.onThread(request, read) { session, request, result in
            session.piecesRead(result, request, upload: attempt)
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
        self.flush()
    }

    // MARK: Downloads

    /// What one job on a thread writes at the most for several downloads: more has jobs of its own, beside each other.
    private static let sharedBytesMax = 128 * 1_024

    /// A batch that a thread has, and for whom it is.
    private struct Write {
        let request: PendingRequest
        let download: DownloadTransfer
        /// The stream on which its bytes came.
        let key: StreamKey?
        let batch: DownloadBatch
        let isSmall: Bool
    }

    /// Writes at the end of the tick: small files that come together are written together.
    private func writeSoon(_ request: PendingRequest, _ download: DownloadTransfer) {
        guard !download.isDue else { return }
        download.isDue = true
        self.due.append(request)
        guard self.due.count == 1 else { return }
        let session = NIOLoopBound(self, eventLoop: self.eventLoop)
        self.eventLoop.execute { session.value.writeDue() }
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

    /// Writes small ones on a thread, one download after the other.
    private func write(_ writes: [Write]) {
        guard !writes.isEmpty else { return }
        let batches = writes.map(\.batch)
        let held = NIOLoopBound((session: self, writes: writes), eventLoop: self.eventLoop)
        self.files.run {
            let results = batches.map { $0.run() }
            held.eventLoop.execute {
                let (session, writes) = held.value
                for (write, result) in zip(writes, results) { session.written(result, write) }
                session.flush()
            }
        }
    }

    /// Writes on threads of the download's own.
    private func write(_ request: PendingRequest, _ download: DownloadTransfer) {
        download.write { batch in
            let write = Write(
                request: request,
                download: download,
                key: download.key,
                batch: batch,
                isSmall: false
            )
            let held = NIOLoopBound((session: self, write: write), eventLoop: self.eventLoop)
            return { result in
                held.eventLoop.execute {
                    let (session, write) = held.value
                    session.written(result, write)
                    session.flush()
                }
            }
        }
    }

    private func written(_ result: Result<Void, FileFailure>, _ write: Write) {
        let (request, download) = (write.request, write.download)
        for piece in write.batch.pieces { self.assetBuffers.giveBack(piece.bytes) }
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
            self.connection(key.connection)?.disposed(
                payloadBytes: write.batch.payloadBytes,
                on: key.stream,
                window: self.downloadWindow.bytes(downloads: self.requests.downloadCount, now: now)
            )
        }
        if download.waitingBytes > 0 {
            self.writeSoon(request, download)
        } else if !download.isBehind, let end = download.end {
            self.end(request.number, .success(end))
        }
    }

    /// The server has sent all of a download; or a connection broke just before it said so.
    func downloadAnswered(_ request: PendingRequest, _ download: DownloadTransfer, _ end: End) {
        guard download.isBehind else { return self.end(request.number, .success(end)) }
        download.end = end
        self.requests.detach(request)
    }

    // MARK: Files

    private func fail(_ request: PendingRequest, _ failure: FileFailure) {
        guard self.requests.remove(request.number) != nil else { return }
        self.cancelStream(of: request)
        request.end(.failure(.fileFailed(failure)))
    }

    /// Does something on a thread for files, and the rest back on the loop.
    private func onThread<Value: Sendable>(
        _ request: PendingRequest,
        _ job: @escaping @Sendable () throws(FileFailure) -> Value,
        then: @escaping @Sendable (ClientSession, PendingRequest, Result<Value, FileFailure>) -> Void
    ) {
        let eventLoop = self.eventLoop
        let held = NIOLoopBound((session: self, request: request), eventLoop: eventLoop)
        self.files.run {
            let result: Result<Value, FileFailure>
            do throws(FileFailure) { result = .success(try job()) } catch { result = .failure(error) }
            eventLoop.execute { then(held.value.session, held.value.request, result) }
        }
    }
}
