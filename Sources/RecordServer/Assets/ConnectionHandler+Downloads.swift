import AssetStore
import Logging
import NIOCore
import RecordModel
import RecordStore
import WireProtocol

// A download: pieces are read while the stream's window and the socket have room, a frame each, and downloads take turns.
extension ConnectionHandler {
    func start(_ request: AdmittedDownload, for answer: Answer) {
        guard !self.machine.isDraining else {
            return self.end(answer.stream, failure: Failure(StoreError.shuttingDown))
        }
        let download = Download(stream: answer.stream, request: request, now: self.eventLoop.now)
        self.transfersMade().downloads[download.stream] = download
        let back = LoopReturn(self)
        let stream = download.stream
        self.server.engine.assets.locate(
            request.ranges.map(\.sha256),
            of: request.record,
            for: request.requester
        ) { result in
            back { $0.located(stream, result) }
        }
    }

    private func located(_ stream: UInt32, _ result: Result<[StoredAsset], StoreError>) {
        guard let transfers, let download = transfers.downloads[stream], let answer = self.answers[stream]
        else { return }
        guard self.server.clock() < answer.deadlineMilliseconds else {
            return self.endTransfer(stream, failure: Failure(StoreError.deadlinePassed))
        }
        switch result {
        case .failure(let error):
            self.endTransfer(stream, failure: Failure(asset: error))
        case .success(let assets):
            do throws(DownloadProgress.RangeInvalid) {
                download.progress = try DownloadProgress(ranges: download.request.ranges, assets: assets)
            } catch {
                return self.endTransfer(stream, failure: .rangeInvalid(item: error.item))
            }
            self.watch(download)
            self.goOn(download)
        }
    }

    /// The next piece has its turn, or there is none.
    private func goOn(_ download: Download) {
        guard let transfers, let progress = download.progress else { return }
        guard progress.next != nil else {
            self.writeProgress(progress.sentBytes, of: progress.totalBytes, on: download.stream)
            return self.endTransfer(download.stream, failure: nil)
        }
        transfers.ready.append(download.stream)
        self.sendDownloads()
    }

    /// Reads the next pieces, as far as there is room.
    func sendDownloads() {
        guard let transfers else { return }
        while transfers.readsInFlight < Transfers.readsMax, let context, context.channel.isWritable,
            let (stream, piece) = self.nextPiece(of: transfers)
        {
            transfers.readsInFlight += 1
            let back = LoopReturn(self)
            self.server.files.read(
                piece.number,
                at: piece.offset,
                count: piece.count,
                behind: Self.header(of: piece, on: stream)
            ) { result in
                back { $0.pieceRead(stream, piece, result) }
            }
        }
    }

    /// Of the first download that has credit.
    private func nextPiece(of transfers: Transfers) -> (UInt32, DownloadProgress.Piece)? {
        for (place, stream) in transfers.ready.enumerated() {
            guard let piece = transfers.downloads[stream]?.progress?.next else {
                // It has ended; those behind it have not moved before the next call.
                transfers.ready.remove(at: place)
                return self.nextPiece(of: transfers)
            }
            guard self.machine.maySendAssetData(on: stream) else { continue }
            transfers.ready.remove(at: place)
            return (stream, piece)
        }
        return nil
    }

    /// What stands before the bytes of a piece: with them it is a frame, written as it was read.
    private static func header(of piece: DownloadProgress.Piece, on stream: UInt32) -> ByteBuffer {
        var header = ByteBuffer()
        header.writeMultipleIntegers(
            UInt32(AssetData.headerBytes + piece.count),
            FrameKind.assetData.rawValue,
            UInt8(0),
            stream
        )
        AssetData.writeHeader(item: piece.item, offset: piece.offset, into: &header)
        return header
    }

    private func pieceRead(
        _ stream: UInt32,
        _ piece: DownloadProgress.Piece,
        _ result: Result<ByteBuffer, AssetStoreError>
    ) {
        guard let transfers else { return }
        transfers.readsInFlight -= 1
        defer { self.sendDownloads() }
        guard let download = transfers.downloads[stream] else { return }
        switch result {
        case .failure(let error):
            self.server.logger.error(
                "a file of an asset cannot be read",
                metadata: [LogKeys.asset: "\(piece.number.rawValue)", LogKeys.error: "\(error)"]
            )
            self.endTransfer(stream, failure: Failure(error, item: Int(piece.item)))
        case .success(let frame):
            self.send(frame, of: download, piece)
        }
    }

    private func send(_ frame: ByteBuffer, of download: Download, _ piece: DownloadProgress.Piece) {
        guard let context else { return }
        // What was written before goes before: this frame has a buffer of its own.
        self.flush()
        context.writeAndFlush(self.wrapOutboundOut(frame), promise: nil)
        self.machine.assetDataSent(AssetData.headerBytes + piece.count, on: download.stream)
        self.server.metrics.assetBytesSent(piece.count)
        download.progress?.sent(piece)
        download.sentAt = self.eventLoop.now
        self.startSocketTimer()
        if let progress = download.progress, progress.next != nil, download.pace.isDue(at: download.sentAt) {
            self.writeProgress(progress.sentBytes, of: progress.totalBytes, on: download.stream)
        }
        self.goOn(download)
    }

    // MARK: - Time

    /// Looks after a while whether the client has given no credit for too long.
    private func watch(_ download: Download, in delay: TimeAmount? = nil) {
        let stream = download.stream
        let timeout = TimeAmount(self.server.configuration.assets.timeout)
        download.timer = self.eventLoop.assumeIsolated().scheduleTask(in: delay ?? timeout) {
            guard let download = self.transfers?.downloads[stream] else { return }
            let silence = self.eventLoop.now - download.sentAt
            if silence >= timeout, !self.machine.maySendAssetData(on: stream) {
                self.endTransfer(stream, failure: .transferTimeout)
                self.flush()
            } else {
                self.watch(download, in: silence >= timeout ? timeout : timeout - silence)
            }
        }
    }
}
