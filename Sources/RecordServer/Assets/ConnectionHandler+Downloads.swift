import AssetStore
import Logging
import NIOCore
import RecordModel
import RecordStore
import WireProtocol

// A download: pieces are read ahead while the stream's window and the connection's share of memory have room, a frame each, and downloads take
// turns.
extension ConnectionHandler {
    func start(_ request: AdmittedDownload, for answer: Answer) {
        guard !self.machine.isDraining else {
            return self.end(answer.stream, failure: Failure(StoreError.shuttingDown))
        }
        let download = Download(stream: answer.stream, request: request, now: self.eventLoop.now)
        let transfers = self.transfersMade()
        if transfers.downloads.isEmpty { self.server.downloads(true) }
        transfers.downloads[download.stream] = download
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
            self.transfers?.ready.append(stream)
            self.endIfSent(download)
            self.sendDownloads()
        }
    }

    /// The last piece went out, or there is none.
    private func endIfSent(_ download: Download) {
        guard let progress = download.progress, progress.isSent else { return }
        self.writeProgress(progress.sentBytes, of: progress.totalBytes, on: download.stream)
        self.endTransfer(download.stream, failure: nil)
    }

    /// Sends what was read and reads the next pieces, as far as there is room.
    func sendDownloads() {
        guard let transfers else { return }
        self.writePieces(of: transfers)
        self.readPieces(of: transfers)
    }

    /// Reads for downloads that have credit, in turns.
    private func readPieces(of transfers: Transfers) {
        while transfers.readsInFlight < Transfers.readsMax, self.context != nil, !transfers.ready.isEmpty {
            let aheadBytesMax = self.server.downloadAheadBytes
            let bytes = min(aheadBytesMax / 2, Transfers.readBytesMax)
            guard transfers.aheadBytes == 0 || transfers.aheadBytes + bytes <= aheadBytesMax,
                let (stream, pieces) = self.nextPieces(of: transfers, upTo: bytes),
                let number = pieces.first?.number
            else { return }
            let count = pieces.reduce(0) { $0 + $1.count }
            transfers.readsInFlight += 1
            transfers.aheadBytes += count
            let back = LoopReturn(self)
            let wanted = pieces.map {
                AssetStore.Piece(offset: $0.offset, count: $0.count, header: Self.header(of: $0, on: stream))
            }
            let buffers = self.server.assetBuffers
            self.server.files.read(number, wanted, into: { buffers.take(bytes: $0) }) { result in
                back { $0.piecesRead(stream, pieces, result) }
            }
        }
    }

    /// Of the first download that has credit for more than was read for it.
    private func nextPieces(of transfers: Transfers, upTo bytes: Int) -> (UInt32, [DownloadProgress.Piece])? {
        for (place, stream) in transfers.ready.enumerated() {
            guard let download = transfers.downloads[stream], let taken = download.progress?.takenBytes else {
                // It has ended; those behind it have not moved before the next call.
                transfers.ready.remove(at: place)
                return self.nextPieces(of: transfers, upTo: bytes)
            }
            let credit = self.machine.assetCredit(on: stream) - Int64(taken)
            guard credit > 0 else { continue }
            transfers.ready.remove(at: place)
            let pieces = download.progress?.take(
                upTo: min(credit, Int64(bytes)),
                pieceBytesMax: min(bytes, DownloadProgress.pieceBytesMax)
            )
            return pieces.map { (stream, $0) }
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

    private func piecesRead(
        _ stream: UInt32,
        _ pieces: [DownloadProgress.Piece],
        _ result: Result<[ByteBuffer], AssetStoreError>
    ) {
        guard let transfers else { return }
        transfers.readsInFlight -= 1
        defer { self.sendDownloads() }
        let count = pieces.reduce(0) { $0 + $1.count }
        guard let download = transfers.downloads[stream] else { return transfers.aheadBytes -= count }
        switch result {
        case .failure(let error):
            transfers.aheadBytes -= count
            self.server.logger.error(
                "a file of an asset cannot be read",
                metadata: [
                    LogKeys.asset: "\(pieces.first?.number.rawValue ?? 0)", LogKeys.error: "\(error)",
                ]
            )
            self.endTransfer(stream, failure: Failure(error, item: Int(pieces.first?.item ?? 0)))
        case .success(let frames):
            for (piece, frame) in zip(pieces, frames) {
                transfers.pieces.append(Transfers.ReadPiece(stream: stream, piece: piece, frame: frame))
            }
            if download.progress?.isTaken == false { transfers.ready.append(stream) }
        }
    }

    /// Writes what was read until the socket has enough: answers come before the rest.
    private func writePieces(of transfers: Transfers) {
        guard !transfers.isWritingPieces else { return }
        transfers.isWritingPieces = true
        defer { transfers.isWritingPieces = false }
        while let context, context.channel.isWritable, let read = transfers.pieces.popFirst() {
            if let download = transfers.downloads[read.stream] {
                self.send(read, of: download, transfers, context)
            } else {
                transfers.aheadBytes -= read.piece.count
            }
        }
    }

    /// What TLS encrypts at a time: with its additions two records that fit the buffer which `TLSSetup` keeps.
    private static let writtenBytesMax = 32 * 1_024 - 128

    private func send(
        _ read: Transfers.ReadPiece,
        of download: Download,
        _ transfers: Transfers,
        _ context: ChannelHandlerContext
    ) {
        // What was written before goes before: this frame has a buffer of its own.
        self.flush()
        var frame = read.frame
        let taken = context.eventLoop.makePromise(of: Void.self)
        taken.futureResult.assumeIsolated().whenComplete { _ in
            transfers.aheadBytes -= read.piece.count
            self.server.assetBuffers.giveBack(read.frame)
            if self.transfers === transfers { self.sendDownloads() }
        }
        while let part = frame.readSlice(length: min(frame.readableBytes, Self.writtenBytesMax)) {
            let isLast = frame.readableBytes == 0
            context.writeAndFlush(self.wrapOutboundOut(part), promise: isLast ? taken : nil)
            if isLast { break }
        }
        let piece = read.piece
        self.machine.assetDataSent(AssetData.headerBytes + piece.count, on: download.stream)
        self.server.metrics.assetBytesSent(piece.count)
        download.progress?.sent(piece)
        download.sentAt = self.eventLoop.now
        self.startSocketTimer()
        if let progress = download.progress, !progress.isSent, download.pace.isDue(at: download.sentAt) {
            self.writeProgress(progress.sentBytes, of: progress.totalBytes, on: download.stream)
        }
        self.endIfSent(download)
    }

    // MARK: - Time

    /// Looks after a while whether the client has given no credit for too long.
    private func watch(_ download: Download, in delay: TimeAmount? = nil) {
        let stream = download.stream
        let timeout = TimeAmount(self.server.configuration.assets.timeout)
        download.timer = self.eventLoop.assumeIsolated().scheduleTask(in: delay ?? timeout) {
            guard let download = self.transfers?.downloads[stream] else { return }
            let silence = self.eventLoop.now - download.sentAt
            if silence >= timeout, self.machine.assetCredit(on: stream) <= 0 {
                self.endTransfer(stream, failure: .transferTimeout)
                self.flush()
            } else {
                self.watch(download, in: silence >= timeout ? timeout : timeout - silence)
            }
        }
    }
}
