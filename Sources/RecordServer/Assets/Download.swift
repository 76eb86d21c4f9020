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
    /// The hash of the item that is being read; `nil` if none was read, or a part is read of it.
    private var current: (item: UInt32, hash: DownloadHash)?

    init(_ request: AdmittedDownload, for response: Response, now: NIODeadline) {
        self.stream = response.stream
        self.request = request
        self.deadlineMilliseconds = response.deadlineMilliseconds
        self.machine = DownloadStateMachine(now: now)
    }

    /// The hash that takes the next bytes of an item; `nil` if only a part of the item is read.
    func hash(of item: UInt32) -> DownloadHash? {
        guard self.machine.sha256(of: item) != nil else { return nil }
        if let current, current.item == item { return current.hash }
        let new = DownloadHash()
        self.current = (item, new)
        return new
    }

    /// Whether an item has other bytes than were uploaded; false until all pieces were read.
    func isDamaged(_ item: UInt32) -> Bool {
        guard let sha256 = self.machine.sha256(of: item), let current, current.item == item,
            self.machine.restBytes(of: item) == 0
        else { return false }
        return !current.hash.isOf(sha256)
    }
}
