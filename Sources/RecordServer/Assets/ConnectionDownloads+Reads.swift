import AssetStorage
import FileIO
import Logging
import NIOCore
import StorageContract
import Transport
import WireProtocol

// Reads ahead for downloads: round robin, with small files in one read.
extension ConnectionDownloads {
    /// Pieces of a download for one read.
    private struct Turn: Sendable {
        var stream: UInt32
        var pieces: [DownloadProgress.Piece]
        var restBytes: Int64

        var count: Int { self.pieces.reduce(0) { $0 + $1.count } }
    }

    /// Starts reads for downloads that have credit, round robin.
    func readPieces() {
        while self.connection.isOpen,
            let bytes = self.queue.bytesOfNextRead(aheadBytesMax: self.server.downloadAheadBytes)
        {
            let turns = self.nextTurns(bytes: bytes)
            guard !turns.isEmpty else { return }
            self.read(turns)
        }
    }

    /// The next pieces to read together: several small ones, or one.
    private func nextTurns(bytes: Int) -> [Turn] {
        var turns: [Turn] = []
        var count = 0
        while turns.count < DownloadQueue.readFilesMax, count <= bytes / 2,
            let turn = self.nextTurn(upTo: bytes - count)
        {
            turns.append(turn)
            count += turn.count
        }
        return turns
    }

    /// The next pieces of the first download with more credit than what was read for it.
    private func nextTurn(upTo bytes: Int) -> Turn? {
        for (index, stream) in self.queue.ready.enumerated() {
            guard let download = self[stream], let taken = download.machine.takenBytes else {
                // It has ended; the indexes of those behind it stay valid until the next call.
                self.queue.ready.remove(at: index)
                return self.nextTurn(upTo: bytes)
            }
            let credit = self.connection.machine.assetCredit(on: stream) - Int64(taken)
            guard credit > 0 else { continue }
            self.queue.ready.remove(at: index)
            let pieces = download.machine.take(
                upTo: min(credit, Int64(bytes)),
                pieceBytesMax: min(bytes, DownloadProgress.pieceBytesMax)
            )
            guard let first = pieces.first else { return nil }
            return Turn(
                stream: stream,
                pieces: pieces,
                restBytes: download.machine.restBytes(of: first.item)
            )
        }
        return nil
    }

    private func read(_ turns: [Turn]) {
        self.queue.readBegan(bytes: turns.reduce(0) { $0 + $1.count })
        let readings = turns.compactMap { self.reading(of: $0) }
        let back = LoopReturn(self, of: self.connection)
        let buffers = self.server.assetBuffers
        self.server.assetBytes.read(readings, into: { buffers.take(bytes: $0) }) { results in
            back { downloads in
                downloads.queue.readEnded()
                for (turn, result) in zip(turns, results) { downloads.piecesRead(turn, result) }
                downloads.send()
            }
        }
    }

    private func reading(of turn: Turn) -> AssetReading? {
        guard let first = turn.pieces.first else { return nil }
        let pieces = turn.pieces.map {
            AssetReading.Piece(
                offset: $0.offset,
                count: $0.count,
                header: Self.header(of: $0, on: turn.stream)
            )
        }
        var reading = AssetReading(of: first.number, pieces, restBytes: turn.restBytes)
        if let hash = self[turn.stream]?.hash(of: first.item) {
            reading.taken = { hash.take($0) }
        }
        return reading
    }

    /// The header of a piece: followed by the bytes it forms a frame, which is written as it was
    /// read.
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

    private func piecesRead(_ turn: Turn, _ result: Result<[ByteBuffer], AssetStoreError>) {
        guard let download = self[turn.stream] else {
            return self.queue.left(bytes: turn.count)
        }
        let item = turn.pieces.first?.item ?? 0
        switch result {
        case .failure(let error):
            self.tell("a file of an asset cannot be read", turn, [LogKeys.error: "\(error)"])
            self.fail(turn, Failure(error, item: Int(item)))
        case .success where download.isDamaged(item):
            self.server.metrics.assetDamaged()
            self.tell(
                "a file of an asset has other bytes than were uploaded, and was not sent to its end",
                turn,
                [LogKeys.advice: Self.adviceOnDamage]
            )
            self.fail(turn, .assetDamaged(item: Int(item)))
        case .success(let frames):
            for (piece, frame) in zip(turn.pieces, frames) {
                self.queue.append(
                    DownloadQueue.ReadPiece(stream: turn.stream, piece: piece, frame: frame)
                )
            }
            if !download.machine.isTaken { self.queue.ready.append(turn.stream) }
        }
    }

    private static var adviceOnDamage: Logger.MetadataValue {
        "List such files with tidemark assets verify, and restore them from a backup. Check the disk."
    }

    private func tell(_ text: String, _ turn: Turn, _ metadata: Logger.Metadata) {
        let number = turn.pieces.first?.number.rawValue ?? 0
        self.server.faults.tell(
            text,
            about: "\(number)",
            metadata: RequestLabel(stream: turn.stream, operation: .downloadAssets).metadata(
                of: self.connection.label,
                metadata.merging([LogKeys.asset: .stringConvertible(number)]) { $1 }
            )
        )
    }

    private func fail(_ turn: Turn, _ failure: Failure) {
        self.queue.left(bytes: turn.count)
        self.end(turn.stream, failure: failure)
    }
}
