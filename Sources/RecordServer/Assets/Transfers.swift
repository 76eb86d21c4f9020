import AssetStore
import FileIO
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

/// One upload, from its request to its end: what its machine decides about.
final class Upload {
    let stream: UInt32
    let request: AdmittedUpload
    /// Jobs on the files of this upload.
    let lane: FileLane
    var machine = UploadStateMachine()
    /// What the search for offsets has found.
    let found = FoundBytes()
    /// One an asset that is incomplete; none before they are looked at.
    var files: [UploadFile?] = []
    var timer: Scheduled<Void>?

    init(stream: UInt32, request: AdmittedUpload, lane: FileLane) {
        self.stream = stream
        self.request = request
        self.lane = lane
    }
}

/// One download, from its request to its end: what its machine decides about.
final class Download {
    let stream: UInt32
    let request: AdmittedDownload
    var machine: DownloadStateMachine
    var timer: Scheduled<Void>?

    init(stream: UInt32, request: AdmittedDownload, now: NIODeadline) {
        self.stream = stream
        self.request = request
        self.machine = DownloadStateMachine(now: now)
    }
}
