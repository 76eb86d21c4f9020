import NIOCore
import WireProtocol

/// Bytes of a download on their way to its file: what the session keeps while a thread writes them.
struct DownloadWrite {
    /// What the thread does.
    struct Job: Sendable {
        let download: AssetDownload
        let pieces: [DownloadTransfer.Piece]

        private var bytes: Int { self.pieces.reduce(0) { $0 + $1.bytes.readableBytes } }

        /// Told of more at a time costs more than it gives.
        static let toldBytesMin = 256 * 1_024

        /// Below this, to make a digest takes no longer than to wake another thread.
        private static let sharedBytesMin = 64 * 1_024

        /// Writes the pieces in order, and makes the digest of them meanwhile.
        ///
        /// `told` hears now and then how many more bytes of the window are free, while others are still being written; the last ones are the
        /// result.
        func run(on files: FileThreads, told: (_ payloadBytes: Int) -> Void) -> Result<Int, FileFailure> {
            let digest = SharedJob { for piece in self.pieces { piece.digest(for: self.download) } }
            defer { digest.result }
            if self.download.digest != nil, self.bytes >= Self.sharedBytesMin {
                files.run { digest.result }
            }
            return Result { () throws(FileFailure) in
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
