import FileIO
package import NIOCore
package import RecordStore

extension AssetStore {
    /// A piece of a file, and the header in front of it.
    package struct Piece: Sendable {
        package var offset: Int64
        package var count: Int
        package var header: ByteBuffer

        package init(offset: Int64, count: Int, header: ByteBuffer) {
            self.offset = offset
            self.count = count
            self.header = header
        }
    }

    /// Consecutive pieces of a complete asset.
    package struct Reading: Sendable {
        package var number: AssetNumber
        package var pieces: [Piece]
        /// Number of bytes behind the pieces that will be asked for next.
        package var restBytes: Int64

        package init(of number: AssetNumber, _ pieces: [Piece], restBytes: Int64) {
            self.number = number
            self.pieces = pieces
            self.restBytes = restBytes
        }
    }

    /// Reads pieces of some assets, one asset after the other.
    ///
    /// Replies once, on a thread of the store, in the order of the assets, with a buffer for each
    /// piece. `buffer` makes the buffers: each has room for the header and exactly `count` bytes
    /// behind it.
    package func read(
        _ readings: [Reading],
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
        _ reading: Reading,
        into buffer: (Int) -> ByteBuffer
    ) throws(AssetStoreError) -> [ByteBuffer] {
        let file = try self.folder.open(reading.number)
        file.readOnlyWhatIsAskedFor()
        var read: [ByteBuffer] = []
        read.reserveCapacity(reading.pieces.count)
        for piece in reading.pieces {
            var bytes = buffer(piece.header.readableBytes + piece.count)
            try Self.read(file, piece, into: &bytes)
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
        _ piece: Piece,
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
