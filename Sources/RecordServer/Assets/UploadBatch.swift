import AssetStorage
import NIOCore

/// The steps for the files of an upload, in order.
struct UploadBatch: Sendable, Equatable {
    /// Pieces below this size are merged into the piece before.
    private static let smallBytes = 16 * 1_024
    private static let mergedBytesMax = 128 * 1_024

    private(set) var steps: [UploadStep] = []
    /// Payload bytes of the frames that brought the bytes.
    private(set) var payloadBytes = 0

    /// Adds bytes to write.
    ///
    /// The buffer is not shared with other frames (`FrameAssembly`).
    mutating func add(_ bytes: ByteBuffer, item: Int, payloadBytes: Int) {
        self.payloadBytes += payloadBytes
        guard case .append(item, var pieces)? = self.steps.last else {
            return self.steps.append(.append(item: item, pieces: [bytes]))
        }
        self.steps.removeLast()
        let last = pieces.count - 1
        if bytes.readableBytes < Self.smallBytes, pieces[last].readableBytes < Self.mergedBytesMax {
            pieces[last].writeImmutableBuffer(bytes)
        } else {
            pieces.append(bytes)
        }
        self.steps.append(.append(item: item, pieces: pieces))
    }

    /// Adds the end of an asset.
    mutating func finish(item: Int) { self.steps.append(.finish(item: item)) }
}
