import NIOCore
import WireProtocol

/// Assets: frames of uploads and downloads.
extension ClientConnectionHandler {
    func assetDataReceived(_ frame: Frame) throws {
        let data = try AssetData(decoding: frame.payload)
        let on = self.key(frame.stream)
        try self.transfer(self.machine.assetDataReceived(data, stream: frame.stream)) {
            $0.transfers.assetDataReceived(data, on: on)
        }
    }

    func assetOffsetsReceived(_ frame: Frame) throws {
        let offsets = try AssetOffsets(decoding: frame.payload)
        let on = self.key(frame.stream)
        try self.transfer(self.machine.assetOffsetsReceived(offsets, stream: frame.stream)) {
            $0.transfers.assetOffsetsReceived(offsets, on: on)
        }
    }

    func progressReceived(_ frame: Frame) throws {
        let progress = try Progress(decoding: frame.payload)
        let on = self.key(frame.stream)
        try self.transfer(self.machine.progressReceived(progress, stream: frame.stream)) {
            $0.transfers.progressReceived(progress, on: on)
        }
    }

    private func transfer(
        _ action: ClientSide.OnDelivery,
        _ deliver: (ClientSession) -> Void
    ) throws(Violation) {
        switch action {
        case .deliver:
            self.hasAnswered = true
            if let session { deliver(session) }
        case .close(let violation): throw violation
        case .ignore: break
        }
    }

    /// Whether the server and the socket have room for bytes of an upload.
    func mayUpload(on stream: UInt32) -> Bool {
        self.isWritable && self.machine.mayUpload(stream: stream)
    }

    /// Sends a piece of an upload, behind all that was written before.
    func send(_ piece: AssetPiece, on stream: UInt32) {
        self.machine.assetDataSent(
            piece.position,
            bytes: piece.byteCount,
            payloadBytes: AssetData.headerBytes + piece.byteCount,
            stream: stream
        )
        self.writeNow(piece.frame)
    }

    /// Bytes of a download were disposed of; its window becomes this large, or what was announced.
    func disposed(payloadBytes: Int, on stream: UInt32, window: UInt32?) {
        let grant = self.machine.assetDataConsumed(
            payloadBytes: payloadBytes,
            stream: stream,
            window: window
        )
        self.grant(grant, on: stream)
    }
}
