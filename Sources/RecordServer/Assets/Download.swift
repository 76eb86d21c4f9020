import NIOCore
import RecordModel
import StorageContract

/// One download, from its request to its end: the state that its machine decides about.
final class Download {
    let stream: UInt32
    let request: AdmittedDownload
    /// Milliseconds since 1970.
    let deadlineMilliseconds: Int64
    var machine: DownloadStateMachine
    var timer: Scheduled<Void>?
    /// The assets that are retained until it has ended.
    var located: [AssetNumber] = []

    init(_ request: AdmittedDownload, for response: Response, now: NIODeadline) {
        self.stream = response.stream
        self.request = request
        self.deadlineMilliseconds = response.deadlineMilliseconds
        self.machine = DownloadStateMachine(now: now)
    }
}
