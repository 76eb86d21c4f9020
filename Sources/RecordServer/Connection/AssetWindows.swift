import WireProtocol

/// What the server takes of asset bytes on the streams of uploads: nothing until it grants, then what it granted.
///
/// - Source: `Protocol/README.md`, sections 5.12 and 6.
struct AssetWindows {
    enum OnAssetData: Equatable {
        case accept
        case close(CloseReason)
        /// The stream has ended, and the client may not have known.
        case ignore
    }

    private struct Upload {
        /// `nil`: nothing was granted.
        var window: UploadWindow?
    }

    private var uploads = StreamTable<Upload>()
    /// What may still come on streams that have ended: the rest of their windows.
    private var lateBytes: Int64 = 0

    mutating func opened(_ stream: UInt32) {
        self.uploads[stream] = Upload()
    }

    mutating func granted(_ stream: UInt32, bytes: UInt32) {
        self.uploads[stream]?.window = UploadWindow(bytes: bytes)
    }

    /// A frame came for a stream that was opened; `isOpen`: it has not ended.
    mutating func received(_ stream: UInt32, payloadBytes: Int, isOpen: Bool) -> OnAssetData {
        guard var upload = self.uploads[stream] else {
            guard !isOpen else { return .close(.frameKindUnexpected) }
            guard self.lateBytes > 0 else { return .close(.creditExceeded) }
            self.lateBytes -= Int64(payloadBytes)
            return .ignore
        }
        guard upload.window?.received(payloadBytes) == true else { return .close(.creditExceeded) }
        self.uploads[stream] = upload
        return .accept
    }

    /// Bytes were written; what to grant now, so that the window becomes this large.
    mutating func disposed(_ stream: UInt32, payloadBytes: Int, window: UInt32) -> UInt32 {
        guard var upload = self.uploads[stream] else { return 0 }
        let grant = upload.window?.disposed(payloadBytes, size: window) ?? 0
        self.uploads[stream] = upload
        return grant
    }

    /// Whether the client may send on a stream.
    func isOpen(_ stream: UInt32) -> Bool {
        (self.uploads[stream]?.window?.bytes ?? 0) > 0
    }

    mutating func ended(_ stream: UInt32) {
        guard !self.uploads.isEmpty, let upload = self.uploads.removeValue(of: stream) else { return }
        self.lateBytes += max(0, upload.window?.bytes ?? 0)
    }
}

/// What a client may send of one upload: a window whose size changes as other uploads come and go.
///
/// Never stuck: a window that is used up and whose frames are all written has at least its size to grant.
struct UploadWindow: Hashable, Sendable {
    /// What may still come; below zero by a part of a frame at most.
    private(set) var bytes: Int64
    /// What came and was not written.
    private var heldBytes: Int64 = 0

    init(bytes: UInt32) {
        self.bytes = Int64(bytes)
    }

    /// A frame arrived.
    ///
    /// `false`: it was sent without credit.
    mutating func received(_ count: Int) -> Bool {
        guard self.bytes > 0 else { return false }
        self.bytes -= Int64(count)
        self.heldBytes += Int64(count)
        return true
    }

    /// The memory of frames was given back.
    ///
    /// Answers what to grant now, so that what may come and what came make up the size; 0: nothing yet, since it is less than a quarter.
    mutating func disposed(_ count: Int, size: UInt32) -> UInt32 {
        self.heldBytes -= Int64(count)
        let grant = Int64(size) - self.bytes - self.heldBytes
        guard grant > 0, grant >= Int64(size) / 4 else { return 0 }
        self.bytes += grant
        return UInt32(clamping: grant)
    }
}
