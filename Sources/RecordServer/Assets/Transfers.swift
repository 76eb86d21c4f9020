import AssetStore
import NIOCore
import RecordModel
import RecordStore
import Transport
import WireProtocol

/// Uploads and downloads of a connection.
///
/// On its event loop; made with the first of them.
final class Transfers {
    /// Reads that go on for one connection at a time.
    static let readsMax = 2
    /// What one read brings at the most.
    static let readBytesMax = 512 * 1_024
    /// Downloads that one read is for at the most: many small files are worth one way to a thread and back, and a slow disk is not asked for
    /// more behind each other.
    static let readFilesMax = 8

    /// A piece of a download that waits for the socket.
    struct ReadPiece {
        let stream: UInt32
        let piece: DownloadProgress.Piece
        let frame: ByteBuffer
    }

    var uploads = StreamTable<Upload>()
    var downloads = StreamTable<Download>()
    /// Downloads that have something to read and are not being read for, in the order of their turns.
    var ready: [UInt32] = []
    var readsInFlight = 0
    /// Pieces in the order in which they were read.
    var pieces = CircularBuffer<ReadPiece>()
    /// Bytes that are being read, that wait, and that the socket has not taken.
    var aheadBytes = 0
    var isWritingPieces = false
    /// Of pieces among the frames of this tick, which are not flushed.
    var outboundBytes = 0
    /// Reads begin at the end of this tick, for all downloads that have come by then.
    var isReadDue = false
}

/// One upload, from its request to its end.
final class Upload {
    enum Stage {
        /// The registry has it.
        case beginning
        /// Other uploads have their turn.
        case waiting
        /// What is there of earlier uploads is being looked at.
        case recovering
        case receiving
    }

    /// What is to be done with a file, in order.
    enum Step: Sendable {
        case write(item: Int, pieces: [ByteBuffer])
        /// All bytes of the asset were written.
        case finish(item: Int)
    }

    let stream: UInt32
    let request: AdmittedUpload
    /// Jobs on the files of this upload.
    let lane: AssetLane
    var stage = Stage.beginning
    /// The client has heard something of it.
    var isAnswered = false
    /// What the search for offsets has found.
    let found = FoundBytes()
    /// What rows say of each asset.
    var places: [AssetPlace] = []
    var ticket: UploadTurns.Ticket?
    var isContested = false
    /// One an asset that is incomplete.
    var files: [UploadFile?] = []
    var progress: UploadProgress?
    /// What came and was not yet handed to the lane.
    var steps: [Step] = []
    /// Of the frames of `steps`.
    var payloadBytes = 0
    var isWriting = false
    /// What came is written soon, unless more comes at once.
    var isWriteScheduled = false
    /// What was written is being made durable.
    var isSyncing = false
    /// When bytes came, or could first come again.
    var heardAt: NIODeadline
    /// When bytes were last made durable, or began to come.
    var durableAt: NIODeadline
    /// When the registry last heard of the bytes.
    var touchedAt: NIODeadline
    /// What the client was last told to be durable.
    var toldBytes: Int64 = 0
    var pace = ProgressPace()
    var timer: Scheduled<Void>?

    init(stream: UInt32, request: AdmittedUpload, lane: AssetLane, now: NIODeadline) {
        self.stream = stream
        self.request = request
        self.lane = lane
        self.heardAt = now
        self.durableAt = now
        self.touchedAt = now
    }

    /// Assets that are not complete.
    var numbers: [AssetNumber] { self.places.compactMap(\.number) }

    /// Bytes below which a piece is added to the one before it: it would be one of many.
    private static let smallBytes = 16 * 1_024
    private static let mergedBytesMax = 128 * 1_024

    /// Adds bytes to what is to be written; their memory is their own (`FrameAssembly`).
    func add(_ bytes: ByteBuffer, item: Int) {
        guard case .write(item, var pieces)? = self.steps.last else {
            return self.steps.append(.write(item: item, pieces: [bytes]))
        }
        self.steps.removeLast()
        let last = pieces.count - 1
        if bytes.readableBytes < Self.smallBytes, pieces[last].readableBytes < Self.mergedBytesMax {
            pieces[last].writeImmutableBuffer(bytes)
        } else {
            pieces.append(bytes)
        }
        self.steps.append(.write(item: item, pieces: pieces))
    }
}

/// One download, from its request to its end.
final class Download {
    let stream: UInt32
    let request: AdmittedDownload
    var progress: DownloadProgress?
    /// When something was sent, or asked for.
    var sentAt: NIODeadline
    var pace = ProgressPace()
    var timer: Scheduled<Void>?

    init(stream: UInt32, request: AdmittedDownload, now: NIODeadline) {
        self.stream = stream
        self.request = request
        self.sentAt = now
    }
}
