import FileIO
import NIOCore
import RecordModel
import WireProtocol

/// Bytes of an asset on their way from a file to the socket: a whole frame, read in place.
struct AssetPiece: Sendable {
    /// At most these: small requests of the same connection wait for one piece.
    static let bytesMax = min(128 * 1024, Bounds.assetDataBytesMax)

    let position: AssetOffset
    let byteCount: Int
    let frame: ByteBuffer

    /// Reads a piece; on a thread for files.
    init(
        of upload: AssetUpload,
        at position: AssetOffset,
        bytes: Int,
        for stream: UInt32,
        _ buffers: BufferPool
    ) throws(FileFailure) {
        var frame = buffers.take(bytes: Frame.headerBytes + AssetData.headerBytes + bytes)
        var failure: FileFailure?
        FrameEncoder.write(.assetData, stream: stream, into: &frame) { frame in
            AssetData.writeHeader(item: UInt32(position.item), offset: position.offset, into: &frame)
            // SAFETY: `read` fills all of the memory that it is given, or throws. Then the frame
            // is not used.
            frame.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes) { memory in
                do throws(FileFailure) {
                    try upload.read(
                        position.item,
                        position.offset,
                        FileMemory(rebasing: memory[..<bytes])
                    )
                } catch {
                    failure = error
                }
                return bytes
            }
        }
        if let failure { throw failure }
        self.position = position
        self.byteCount = bytes
        self.frame = frame
    }
}
