package import AssetStorage
import FileIO
package import NIOCore

extension AssetStore {
    /// Reads pieces of some assets, one asset after the other.
    package func read(
        _ readings: [AssetReading],
        into buffer: @escaping @Sendable (Int) -> ByteBuffer,
        reply: @escaping @Sendable ([Result<[ByteBuffer], AssetStoreError>]) -> Void
    ) {
        self.threads.run {
            reply(
                readings.map { reading in
                    Result { () throws(AssetStoreError) in try self.read(reading, into: buffer) }
                }
            )
        }
    }

    private func read(
        _ reading: AssetReading,
        into buffer: (Int) -> ByteBuffer
    ) throws(AssetStoreError) -> [ByteBuffer] {
        let file = try self.folder.open(reading.number)
        file.readOnlyWhatIsAskedFor()
        var read: [ByteBuffer] = []
        read.reserveCapacity(reading.pieces.count)
        for piece in reading.pieces {
            var bytes = buffer(piece.header.readableBytes + piece.count)
            try Self.read(file, piece, into: &bytes)
            if let taken = reading.taken {
                // SAFETY: the bytes are used within the call only.
                bytes.withUnsafeReadableBytes {
                    taken(.init(rebasing: $0.dropFirst(piece.header.readableBytes)))
                }
            }
            read.append(bytes)
        }
        if reading.restBytes > 0, let last = reading.pieces.last {
            // The disk reads the next pieces while the network sends these.
            let bytes = min(reading.restBytes, ReadAhead.bytesMax)
            file.prefetch(Int(bytes), at: last.offset + Int64(last.count))
        }
        return read
    }

    private static func read(
        _ file: OpenFile,
        _ piece: AssetReading.Piece,
        into bytes: inout ByteBuffer
    ) throws(AssetStoreError) {
        bytes.writeImmutableBuffer(piece.header)
        var failure: FileError?
        // SAFETY: the bytes are used within the call only, and counted as written only if they
        // were.
        let read = bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: piece.count) { buffer in
            do throws(FileError) {
                return try file.read(
                    into: FileMemory(rebasing: buffer[..<piece.count]),
                    at: piece.offset
                )
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw AssetStoreError(failure) }
        guard read == piece.count else { throw .missing }
    }
}
