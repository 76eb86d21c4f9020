import AssetStore
import FileIO
import Logging
import NIOCore
import RecordModel
import RecordStore
import Transport
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
        self.server.store.locateAssets(
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
            let action: DownloadStateMachine.OnSent
            do throws(DownloadProgress.RangeInvalid) {
                action = try download.machine.located(download.request.ranges, of: assets)
            } catch {
                return self.endTransfer(stream, failure: .rangeInvalid(item: error.item))
            }
            self.watch(download)
            self.transfers?.ready.append(stream)
            self.perform(action, of: download)
            self.readSoon()
        }
    }

    /// Reads at the end of the tick: small files that are asked for together are read together.
    private func readSoon() {
        guard let transfers, !transfers.isReadDue else { return }
        transfers.isReadDue = true
        let soon = LoopReturn(self)
        soon { connection in
            connection.transfers?.isReadDue = false
            connection.sendDownloads()
        }
    }

    private func perform(_ action: DownloadStateMachine.OnSent, of download: Download) {
        switch action {
        case .goOn: break
        case .tell(let doneBytes, let totalBytes):
            self.writeProgress(doneBytes, of: totalBytes, on: download.stream)
        case .finish(let totalBytes):
            self.writeProgress(totalBytes, of: totalBytes, on: download.stream)
            self.endTransfer(download.stream, failure: nil)
        }
    }

    /// Sends what was read and reads the next pieces, as far as there is room.
    func sendDownloads() {
        guard let transfers else { return }
        self.writePieces(of: transfers)
        self.readPieces(of: transfers)
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
        if read.frame.readableBytes <= Self.writtenBytesMax {
            self.writeAmongOthers(read, transfers)
        } else {
            self.writeAlone(read, transfers, context)
        }
        let piece = read.piece
        self.machine.assetDataSent(AssetData.headerBytes + piece.count, on: download.stream)
        self.server.metrics.assetBytesSent(piece.count)
        self.startSocketTimer()
        self.perform(download.machine.sent(piece, now: self.eventLoop.now), of: download)
    }

    /// A small piece leaves with the other frames of this tick: in one write, with the end of its download.
    private func writeAmongOthers(_ read: Transfers.ReadPiece, _ transfers: Transfers) {
        if self.outbound.readableBytes + read.frame.readableBytes > Self.writtenBytesMax { self.flush() }
        self.prepareOutbound()
        self.outbound.writeImmutableBuffer(read.frame)
        transfers.outboundBytes += read.piece.count
        self.server.assetBuffers.giveBack(read.frame)
    }

    /// A large piece is not copied.
    private func writeAlone(
        _ read: Transfers.ReadPiece,
        _ transfers: Transfers,
        _ context: ChannelHandlerContext
    ) {
        // What was written before goes before.
        self.flush()
        var frame = read.frame
        let taken = self.whenTaken(read.piece.count, of: transfers)
        taken.futureResult.assumeIsolated().whenComplete { _ in self.server.assetBuffers.giveBack(read.frame)
        }
        while let part = frame.readSlice(length: min(frame.readableBytes, Self.writtenBytesMax)) {
            let isLast = frame.readableBytes == 0
            context.writeAndFlush(self.wrapOutboundOut(part), promise: isLast ? taken : nil)
            if isLast { break }
        }
    }

    /// Whom to tell when the socket has taken the frames of this tick; `nil`: no piece is among them.
    func whenOutboundTaken() -> EventLoopPromise<Void>? {
        guard let transfers, transfers.outboundBytes > 0 else { return nil }
        defer { transfers.outboundBytes = 0 }
        return self.whenTaken(transfers.outboundBytes, of: transfers)
    }

    /// Makes room for other pieces when the promise is kept.
    private func whenTaken(_ count: Int, of transfers: Transfers) -> EventLoopPromise<Void> {
        let taken = self.eventLoop.makePromise(of: Void.self)
        taken.futureResult.assumeIsolated().whenComplete { _ in
            transfers.aheadBytes -= count
            guard self.transfers === transfers else { return }
            self.sendDownloads()
            self.flush()
        }
        return taken
    }

    // MARK: - Time

    /// Looks after a while whether the client has given no credit for too long.
    private func watch(_ download: Download, in delay: TimeAmount? = nil) {
        let stream = download.stream
        let timeout = TimeAmount(self.server.configuration.assets.timeout)
        download.timer = self.eventLoop.assumeIsolated().scheduleTask(in: delay ?? timeout) {
            guard let download = self.transfers?.downloads[stream] else { return }
            let action = download.machine.timerFired(
                now: self.eventLoop.now,
                hasCredit: self.machine.assetCredit(on: stream) > 0,
                timeout: timeout
            )
            switch action {
            case .look(let delay): self.watch(download, in: delay)
            case .fail:
                self.endTransfer(stream, failure: .transferTimeout)
                self.flush()
            }
        }
    }
}
