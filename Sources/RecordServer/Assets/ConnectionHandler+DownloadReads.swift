import AssetStore
import FileIO
import Logging
import NIOCore
import RecordStore
import Transport
import WireProtocol

// What downloads read ahead: in turns, small files together.
extension ConnectionHandler {
    /// Pieces of a download that are read at a time.
    private struct Turn: Sendable {
        var stream: UInt32
        var pieces: [DownloadProgress.Piece]
        var restBytes: Int64

        var count: Int { self.pieces.reduce(0) { $0 + $1.count } }
    }

    /// Reads for downloads that have credit, in turns.
    func readPieces(of transfers: Transfers) {
        while transfers.readsInFlight < Transfers.readsMax, self.context != nil, !transfers.ready.isEmpty {
            let aheadBytesMax = self.server.downloadAheadBytes
            let bytes = min(aheadBytesMax / 2, Transfers.readBytesMax)
            guard transfers.aheadBytes == 0 || transfers.aheadBytes + bytes <= aheadBytesMax else { return }
            let turns = self.nextTurns(of: transfers, bytes: bytes)
            guard !turns.isEmpty else { return }
            self.read(turns, transfers)
        }
    }

    /// Those of one read: as many as are small, or one.
    private func nextTurns(of transfers: Transfers, bytes: Int) -> [Turn] {
        var turns: [Turn] = []
        var count = 0
        while turns.count < Transfers.readFilesMax, count <= bytes / 2,
            let turn = self.nextTurn(of: transfers, upTo: bytes - count)
        {
            turns.append(turn)
            count += turn.count
        }
        return turns
    }

    /// Of the first download that has credit for more than was read for it.
    private func nextTurn(of transfers: Transfers, upTo bytes: Int) -> Turn? {
        for (place, stream) in transfers.ready.enumerated() {
            guard let download = transfers.downloads[stream], let taken = download.machine.takenBytes else {
                // It has ended; those behind it have not moved before the next call.
                transfers.ready.remove(at: place)
                return self.nextTurn(of: transfers, upTo: bytes)
            }
            let credit = self.machine.assetCredit(on: stream) - Int64(taken)
            guard credit > 0 else { continue }
            transfers.ready.remove(at: place)
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

    private func read(_ turns: [Turn], _ transfers: Transfers) {
        transfers.readsInFlight += 1
        transfers.aheadBytes += turns.reduce(0) { $0 + $1.count }
        let readings = turns.compactMap { turn in
            turn.pieces.first.map { first in
                AssetStore.Reading(
                    of: first.number,
                    turn.pieces.map {
                        AssetStore.Piece(
                            offset: $0.offset,
                            count: $0.count,
                            header: Self.header(of: $0, on: turn.stream)
                        )
                    },
                    restBytes: turn.restBytes
                )
            }
        }
        let back = LoopReturn(self)
        let buffers = self.server.assetBuffers
        self.server.files.read(readings, into: { buffers.take(bytes: $0) }) { results in
            back { connection in
                guard let transfers = connection.transfers else { return }
                transfers.readsInFlight -= 1
                for (turn, result) in zip(turns, results) { connection.piecesRead(turn, result, transfers) }
                connection.sendDownloads()
            }
        }
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
        _ turn: Turn,
        _ result: Result<[ByteBuffer], AssetStoreError>,
        _ transfers: Transfers
    ) {
        guard let download = transfers.downloads[turn.stream] else {
            return transfers.aheadBytes -= turn.count
        }
        switch result {
        case .failure(let error):
            transfers.aheadBytes -= turn.count
            self.server.logger.error(
                "a file of an asset cannot be read",
                metadata: [
                    LogKeys.asset: .stringConvertible(turn.pieces.first?.number.rawValue ?? 0),
                    LogKeys.error: "\(error)",
                ]
            )
            self.endTransfer(turn.stream, failure: Failure(error, item: Int(turn.pieces.first?.item ?? 0)))
        case .success(let frames):
            for (piece, frame) in zip(turn.pieces, frames) {
                transfers.pieces.append(Transfers.ReadPiece(stream: turn.stream, piece: piece, frame: frame))
            }
            if !download.machine.isTaken { transfers.ready.append(turn.stream) }
        }
    }
}
