import NIOCore

/// Pieces of a connection's downloads between disk and socket, and whose turn it is.
///
/// Pure. What is being read, what waits and what the socket has not taken has a bound together.
struct DownloadQueue {
    /// Reads that go on for one connection at a time.
    static let readsMax = 2
    /// The most bytes of one read.
    static let readBytesMax = 512 * 1_024
    /// Downloads that one read is for at the most.
    ///
    /// Many small files are worth one way to a thread and back, and a slow disk is not asked for
    /// more behind each other.
    static let readFilesMax = 8

    /// A piece of a download that waits for the socket.
    struct ReadPiece {
        let stream: UInt32
        let piece: DownloadProgress.Piece
        /// With its header.
        let frame: ByteBuffer
    }

    /// Downloads that have something to read and are not being read for, in the order of their
    /// turns.
    var ready: [UInt32] = []
    private var readsInFlight = 0
    /// In the order in which they were read.
    private var pieces = CircularBuffer<ReadPiece>()
    /// Bytes that are being read, that wait, and that the socket has not taken.
    private(set) var aheadBytes = 0
    /// Of pieces among the frames of this tick, which are not flushed.
    private var unflushedBytes = 0

    /// Whether a read may begin.
    ///
    /// - Parameter aheadBytesMax: What the connection may have between disk and socket.
    /// - Returns: What the read may bring; `nil` if there is no room for one.
    func bytesOfNextRead(aheadBytesMax: Int) -> Int? {
        guard self.readsInFlight < Self.readsMax, !self.ready.isEmpty else { return nil }
        let bytes = min(aheadBytesMax / 2, Self.readBytesMax)
        guard self.aheadBytes == 0 || self.aheadBytes + bytes <= aheadBytesMax else { return nil }
        return bytes
    }

    /// A read of so many bytes begins.
    mutating func readBegan(bytes: Int) {
        self.readsInFlight += 1
        self.aheadBytes += bytes
    }

    /// A read has ended; what it brought still counts.
    mutating func readEnded() { self.readsInFlight -= 1 }

    /// A piece waits for the socket.
    mutating func append(_ piece: ReadPiece) { self.pieces.append(piece) }

    /// The piece that was read first.
    mutating func popFirst() -> ReadPiece? { self.pieces.popFirst() }

    /// These bytes are not between disk and socket any more.
    mutating func left(bytes: Int) { self.aheadBytes -= bytes }

    /// A piece of so many bytes stands among the frames of this tick.
    mutating func written(bytes: Int) { self.unflushedBytes += bytes }

    /// The frames of this tick are flushed.
    ///
    /// - Returns: Bytes of the pieces among them.
    mutating func flushed() -> Int {
        defer { self.unflushedBytes = 0 }
        return self.unflushedBytes
    }
}
