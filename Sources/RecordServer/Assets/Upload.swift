import AssetStorage
import NIOCore
import RecordModel
import RecordStore
import Synchronization
import WireProtocol

/// One upload, from its request to its end: the state that its machine decides about.
final class Upload {
    let stream: UInt32
    let request: AdmittedUpload
    /// Milliseconds since 1970.
    let deadlineMilliseconds: Int64
    var machine = UploadStateMachine()
    /// Bytes found of earlier uploads.
    let found = FoundBytes()
    /// The assets, with the numbers of incomplete ones; empty until the registry has replied.
    var items: [UploadItem] = []
    /// `nil` before there are items, and if nothing needs to be sent.
    var bytes: (any AssetUpload)?
    var timer: Scheduled<Void>?

    init(_ request: AdmittedUpload, for response: Response) {
        self.stream = response.stream
        self.request = request
        self.deadlineMilliseconds = response.deadlineMilliseconds
    }
}

/// How many bytes of an upload were found so far; never fewer than before.
final class FoundBytes: Sendable {
    private let count = Atomic<Int64>(0)

    var bytes: Int64 { self.count.load(ordering: .relaxed) }

    func set(_ bytes: Int64) { self.count.max(bytes, ordering: .relaxed) }
}
