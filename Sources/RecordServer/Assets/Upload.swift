import AssetStore
import FileIO
import NIOCore
import RecordModel
import RecordStore
import WireProtocol

/// One upload, from its request to its end: what its machine decides about.
final class Upload {
    let stream: UInt32
    let request: AdmittedUpload
    /// Milliseconds since 1970.
    let deadlineMilliseconds: Int64
    /// Jobs on the files of this upload.
    let lane: FileLane
    var machine = UploadStateMachine()
    /// The result of the search for offsets.
    let found = FoundBytes()
    /// One for each asset that is incomplete; none before they are looked at.
    var files: [UploadFile?] = []
    var timer: Scheduled<Void>?

    init(_ request: AdmittedUpload, for response: Response, lane: FileLane) {
        self.stream = response.stream
        self.request = request
        self.deadlineMilliseconds = response.deadlineMilliseconds
        self.lane = lane
    }
}
