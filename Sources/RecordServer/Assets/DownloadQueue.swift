import NIOCore

/// The download pieces of a connection between disk and socket, and the order of its downloads.
///
/// Pure. Bytes being read, queued and not yet taken by the socket share one bound.
struct DownloadQueue {
    /// Maximum number of concurrent reads for one connection.
    static let readsMax = 2
    /// Maximum number of bytes of one read.
    static let readBytesMax = 512 * 1_024
    /// Maximum number of downloads that share one read.
    ///
    /// Many small files are worth one thread switch; more would queue up on a slow disk.
    static let readFilesMax = 8

    /// A piece of a download that waits for the socket.
    struct ReadPiece {
        let stream: UInt32
        let piece: DownloadProgress.Piece
        /// With its header.
        let frame: ByteBuffer
    }

    /// Downloads that have something to read and no read in flight, in round-robin order.
    var ready: [UInt32] = []
    private var readsInFlight = 0
    /// In the order in which they were read.
    private var pieces = CircularBuffer<ReadPiece>()
    /// Bytes being read, queued, and not yet taken by the socket.
    private(set) var aheadBytes = 0
    /// Bytes of pieces among the frames of this tick, not flushed yet.
    private var unflushedBytes = 0

    /// The size of the next read.
    ///
    /// - Parameter aheadBytesMax: Maximum number of bytes between disk and socket.
    ///
    /// - Returns: Maximum number of bytes of the read; `nil` if there is no room.
    func bytesOfNextRead(aheadBytesMax: Int) -> Int? {
        guard self.readsInFlight < Self.readsMax, !self.ready.isEmpty else { return nil }
        let bytes = min(aheadBytesMax / 2, Self.readBytesMax)
        guard self.aheadBytes == 0 || self.aheadBytes + bytes <= aheadBytesMax else { return nil }
        return bytes
    }

    /// A read of up to `bytes` begins.
    mutating func readBegan(bytes: Int) {
        self.readsInFlight += 1
        self.aheadBytes += bytes
    }

    /// A read has ended; its bytes still count.
    mutating func readEnded() { self.readsInFlight -= 1 }

    /// A piece waits for the socket.
    mutating func append(_ piece: ReadPiece) { self.pieces.append(piece) }

    /// The piece that was read first.
    mutating func popFirst() -> ReadPiece? { self.pieces.popFirst() }

    /// These bytes are no longer between disk and socket.
    mutating func left(bytes: Int) { self.aheadBytes -= bytes }

    /// A piece of `bytes` was added to the frames of this tick.
    mutating func written(bytes: Int) { self.unflushedBytes += bytes }

    /// The frames of this tick are flushed.
    ///
    /// - Returns: Bytes of the pieces among them.
    mutating func flushed() -> Int {
        defer { self.unflushedBytes = 0 }
        return self.unflushedBytes
    }
}
