import NIOCore
import WireProtocol

/// Bytes of a download on their way to its file: what the session keeps while a thread writes them.
struct DownloadWrite {
    /// What the thread does.
    struct Job: Sendable {
        let download: AssetDownload
        let pieces: [DownloadTransfer.Piece]

        /// Told of more at a time costs more than it gives.
        static let toldBytesMin = 256 * 1_024

        /// Writes the pieces in order.
        ///
        /// `told` hears now and then how many more bytes of the window are free, while others are still being written; the last ones are the
        /// result.
        func run(told: (_ payloadBytes: Int) -> Void) -> Result<Int, FileFailure> {
            Result { () throws(FileFailure) in
                var payloadBytes = 0
                for piece in self.pieces {
                    if payloadBytes >= Self.toldBytesMin {
                        told(payloadBytes)
                        payloadBytes = 0
                    }
                    try piece.write(to: self.download)
                    payloadBytes += AssetData.headerBytes + piece.bytes.readableBytes
                }
                return payloadBytes
            }
        }
    }

    let request: PendingRequest
    let job: Job
    /// The stream on which they came.
    let key: StreamKey?

    /// Takes what waits; `nil`: nothing does, or what came before is still being written.
    init?(_ request: PendingRequest, _ download: DownloadTransfer) {
        let pieces = download.takeWaiting()
        guard !pieces.isEmpty else { return nil }
        self.request = request
        self.job = Job(download: download.download, pieces: pieces)
        self.key = download.key
    }
}
